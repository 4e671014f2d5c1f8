#include "worker/constant_data.h"

#include <algorithm>

#include "check/operands.h"
#include "compile/variable_data.h"

namespace attnscope::worker {

Result<Variants> with_constant_data(Variants variants, const std::optional<Workload>& workload, const Problem& problem,
                                    const check::Operands* given) {
  const auto is_variable = [](const Operand& one) { return !one.symbol.empty(); };
  if (!workload || std::ranges::none_of(workload->operands, is_variable)) return variants;
  // A buffer's contents depend on its place in the list. Buffers that are passed as parameters are not filled here.
  Workload only = *workload;
  for (Operand& one : only.operands)
    if (!is_variable(one)) one.shape = {0};
  std::shared_ptr<const check::Operands> made;
  if (given == nullptr) {
    auto contents = check::make_operands(only, problem);
    if (!contents) return fail(contents.error());
    made = std::move(*contents);
    given = made.get();
  }
  for (const check::OperandContents& one : given->all) {
    if (!is_variable(one.what)) continue;
    const auto has = [&](const auto& variant) { return compile::has_variable(*variant, one.what.symbol); };
    const bool anywhere = std::ranges::any_of(variants, has);
    for (auto& variant : variants) {
      if (anywhere && !has(variant)) continue;
      auto filled = std::make_shared<compile::Variant>(*variant);
      if (auto done = compile::fill_variable(*filled, one.what.symbol, one.bytes); !done) return fail(done.error());
      variant = std::move(filled);
    }
  }
  return variants;
}

}  // namespace attnscope::worker
