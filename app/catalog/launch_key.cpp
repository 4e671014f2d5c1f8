#include "catalog/launch_key.h"

#include <fmt/format.h>

#include "catalog/launch.h"
#include "catalog/validate.h"
#include "catalog/workload.h"

namespace attnscope::catalog {
namespace {

std::string text_of(const Workload& workload) {
  std::string text;
  for (const Operand& one : workload.operands) {
    text += fmt::format("|{} {} {} {} {} {}", one.name, word_of(one.role), word_of(one.type), word_of(one.init.kind),
                        one.init.low.value_or(0), one.init.high.value_or(0));
    for (const int64_t size : one.shape) text += fmt::format(" {}", size);
  }
  for (const ArgumentValue& one : workload.arguments) {
    text += fmt::format("|{} {} {}", one.name, one.whole.value_or(0), one.offset);
    for (const ArgumentValue::Address& address : one.addresses) text += fmt::format(" {}", address.offset);
    for (const std::byte byte : one.bytes) text += fmt::format(" {}", std::to_integer<int>(byte));
  }
  return text;
}

}  // namespace

std::string launch_key(const Kernel& kernel, const Problem& problem, const Config& config) {
  std::string key;
  for (const Kernel& one : kernel.launches()) {
    if (kernel.library.is_source()) {
      const auto launch = launch_of(one, problem, config);
      if (!launch) return launch.error().message;
      for (const int64_t size : launch->shape.grid) key += fmt::format("{} ", size);
      for (const int64_t size : launch->shape.block) key += fmt::format("{} ", size);
      key += fmt::format("{}", launch->dynamic_shared);
      if (launch->shape.cooperative) key += " cooperative";
    }
    if (problem.is_attention()) continue;
    const auto workload = workload_of(one, problem, config);
    if (!workload) return workload.error().message;
    key += text_of(*workload);
  }
  const auto accumulate = accumulate_of(kernel, config);
  if (!accumulate) return accumulate.error().message;
  return key + fmt::format("|{}", word_of(*accumulate));
}

}  // namespace attnscope::catalog
