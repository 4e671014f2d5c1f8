#include "core/kernel.h"

#include <algorithm>

namespace attnscope {

const KnobValue* Knob::find(int64_t value) const {
  for (const KnobValue& candidate : values)
    if (candidate.value == value) return &candidate;
  return nullptr;
}

std::string Knob::text_of(int64_t value) const {
  const KnobValue* found = find(value);
  return found ? found->text() : std::to_string(value);
}

const Knob* Kernel::find_knob(const std::string& name) const {
  for (const Knob& knob : knobs)
    if (knob.name == name) return &knob;
  return nullptr;
}

Problem Kernel::default_problem() const {
  Problem start;
  start.kind = problem;
  start.sizes = sizes;
  return start;
}

const Kernel* find_kernel(const std::vector<Kernel>& kernels, const std::string& id) {
  const auto found = std::ranges::find(kernels, id, &Kernel::id);
  return found == kernels.end() ? nullptr : &*found;
}

}  // namespace attnscope
