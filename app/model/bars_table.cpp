#include "model/bars_table.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/words.h"

namespace attnscope::model {

BarsTable::BarsTable(std::string_view text) {
  const Json json = Json::parse(text);
  const auto bar = [](const Json& of) { return Bar{of.at(0), of.at(1)}; };
  arch_ = json.at("arch");
  counters_ = bar(json.at("counters"));
  other_architecture_ = json.at("other_architecture");
  other_architecture_pairs_ = json.at("other_architecture_pairs");
  for (const auto& [arch, from] : json.at("architectures").items()) {
    OfArch& made = measured_[std::stoi(arch)];
    for (const auto& [bound, of] : from.at("bounds").items()) made.of_bound[bound] = bar(of);
    made.other = bar(from.at("other_bounds"));
    for (const Json& of : from.at("one_kernel")) made.one_kernel.push_back({of.at(0), of.at(1)});
    made.other_kernels = from.at("other_kernels");
  }
}

const BarsTable::OfArch& BarsTable::of(int arch) const {
  const auto found = measured_.find(arch);
  return found == measured_.end() ? measured_.at(arch_) : found->second;
}

double BarsTable::widened(double factor, int arch) const {
  return measured_.contains(arch) ? factor : std::pow(factor, other_architecture_pairs_);
}

Bar BarsTable::bar_of(Bound bound, bool traced, int arch) const {
  if (!traced) return counters_;
  const OfArch& bars = of(arch);
  const auto found = bars.of_bound.find(std::string(word_of(bound)));
  const Bar bar = found == bars.of_bound.end() ? bars.other : found->second;
  return measured_.contains(arch) ? bar : Bar{bar.low / other_architecture_, bar.high * other_architecture_};
}

double BarsTable::of_one_kernel(double unlike, int arch) const {
  const std::vector<Class>& classes = of(arch).one_kernel;
  const auto found = std::ranges::find_if(classes, [&](const Class& one) { return unlike <= one.unlike; });
  // A sum of shares may be a little over 1.
  return widened(found == classes.end() ? classes.back().factor : found->factor, arch);
}

double BarsTable::of_two_kernels(int arch) const { return widened(of(arch).other_kernels, arch); }

ApartFrom BarsTable::apart_from() const {
  constexpr int kNone = 0;  // an architecture without bars of its own
  ApartFrom from{of_two_kernels(arch_), of_two_kernels(kNone)};
  const auto take = [&](double factor) {
    from.never = std::min(from.never, factor);
    from.always = std::max(from.always, factor);
  };
  for (const auto& [arch, bars] : measured_) {
    take(bars.other_kernels);
    for (const Class& one : bars.one_kernel) take(one.factor);
  }
  for (const Class& one : of(kNone).one_kernel) take(widened(one.factor, kNone));
  return from;
}

}  // namespace attnscope::model
