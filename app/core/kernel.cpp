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

std::vector<Kernel> Kernel::launches() const {
  if (steps.empty()) return {*this};
  std::vector<Kernel> all;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != ProgramStep::Kind::launch) continue;
    Kernel& one = all.emplace_back(*this);
    one.entry = steps[i].entry;
    one.launch = steps[i].launch;
    one.shared_map = steps[i].shared_map;
    one.arguments = steps[i].arguments;
    one.steps.clear();
    one.step = i;
  }
  return all;
}

std::string Kernel::where(std::string_view key) const {
  if (!step) return manifest_name + "/" + std::string(key);
  constexpr std::string_view kLaunch = "launch/";
  if (key.starts_with(kLaunch)) key.remove_prefix(kLaunch.size());
  return manifest_name + "/launches/" + std::to_string(*step) + "/" + std::string(key);
}

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
