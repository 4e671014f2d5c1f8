#include "catalog/clocked_fragment.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/manifest_reader.h"
#include "core/fields.h"

namespace attnscope {

template <>
struct FieldsOf<ClockedFragment::StandsFor> {
  using Of = ClockedFragment::StandsFor;
  static constexpr auto list =
      std::tuple{Field{"kernel", &Of::kernel, Limits{.bytes = 100, .line = true, .required = true}},
                 Field{"when", &Of::when, Limits{.bytes = 2000, .line = true}}};
};

template <>
struct FieldsOf<ClockedFragment> {
  using Of = ClockedFragment;
  static constexpr Limits kName{.bytes = 100, .line = true, .required = true};
  static constexpr Limits kExpression{.bytes = 2000, .line = true, .required = true};
  static constexpr auto list =
      std::tuple{Field{"cycles", &Of::cycles, kName},
                 Field{"function", &Of::function, kName},
                 Field{"executions", &Of::executions, Limits{.low = 1, .high = 1e9, .required = true}},
                 Field{"stands_for", &Of::stands, Limits{.most = 64}},
                 Field{"fits", &Of::fits, kExpression},
                 Field{"work", &Of::work, kExpression},
                 Field{"unit", &Of::unit, kName}};
};

namespace catalog {

void read_fragment(JsonReader& read, Kernel& kernel) {
  fields::read(read, "fragment", kernel.fragment, Limits{});
  if (!kernel.fragment || read.failed()) return;
  const auto buffer = std::ranges::find(kernel.buffers, kernel.fragment->cycles, &BufferDeclaration::name);
  if (buffer == kernel.buffers.end() || buffer->role != BufferRole::out || buffer->type != ElementType::f32)
    read.fault("fragment/cycles", "\"" + kernel.fragment->cycles + "\" is not a buffer of role out and dtype f32",
               "The kernel writes each CTA's clocks of one execution into it.");
  const auto judged = [&](const ReferenceSpec& spec) { return spec.output == kernel.fragment->cycles; };
  if (std::ranges::any_of(kernel.references, judged))
    read.fault("fragment/cycles",
               "\"" + kernel.fragment->cycles + "\" has a reference: no two runs take the same clocks",
               "Leave it out of the reference.");
  if (kernel.reference_kernel)
    read.fault("fragment", "another kernel cannot be its reference: it has no clocks to agree with",
               "Declare what the other outputs should be.");
  if (!kernel.steps.empty())
    read.fault("fragment", "a program of several launches has no fragment to clock", "Clock one launch.");
}

Result<bool> fragment_fits(const Kernel& micro, const Config& config, const Problem& attention) {
  return holds(micro.fragment->fits, variables(micro, attention, config), micro.where("fragment/fits"));
}

Result<bool> fragment_stands(const Kernel& micro, const Config& of_micro, const Kernel& kernel, const Problem& problem,
                             const Config& config) {
  const auto& stands = micro.fragment->stands;
  const auto found = std::ranges::find(stands, kernel.id, &ClockedFragment::StandsFor::kernel);
  if (found == stands.end()) return false;
  Variables known = variables(kernel, problem, config);
  known.merge(variables(micro, problem, of_micro));
  return holds(found->when, known, micro.where(fmt::format("fragment/stands_for/{}/when", found - stands.begin())));
}

Result<double> fragment_work(const Kernel& micro, const Config& config) {
  auto work =
      evaluate(micro.fragment->work, variables(micro, micro.default_problem(), config), micro.where("fragment/work"));
  if (!work) return fail(work.error());
  if (*work == 0) return fail(Stage::catalog, micro.where("fragment/work") + ": is 0 for a config");
  return double(*work);
}

}  // namespace catalog
}  // namespace attnscope
