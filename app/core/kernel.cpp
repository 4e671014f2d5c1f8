#include "core/kernel.h"

#include <algorithm>

namespace attnscope {

namespace {

template <class T, class V, class Member>
const T* find_in(const std::vector<T>& list, const V& value, Member member) {
  const auto found = std::ranges::find(list, value, member);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const KnobValue* Knob::find(int64_t value) const { return find_in(values, value, &KnobValue::value); }

std::string Knob::text_of(int64_t value) const {
  const KnobValue* found = find(value);
  return found ? found->text() : std::to_string(value);
}

const Knob* Kernel::find_knob(const std::string& name) const { return find_in(knobs, name, &Knob::name); }

Problem Kernel::default_problem() const {
  Problem start;
  start.kind = problem;
  start.sizes = sizes;
  return start;
}

const Kernel* find_kernel(const std::vector<Kernel>& kernels, const std::string& id) {
  return find_in(kernels, id, &Kernel::id);
}

}  // namespace attnscope
