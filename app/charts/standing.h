#pragma once
#include <optional>
#include <string>

#include "core/comparable.h"
#include "core/observation.h"
#include "model/bars.h"

namespace attnscope {
namespace charts {

// How the shown run (B) compares with its baseline (A).
enum class Outcome { faster, slower, tie, not_comparable };

}  // namespace charts

template <>
struct Words<charts::Outcome> {
  using enum charts::Outcome;
  static constexpr WordTable<charts::Outcome, 4> table{
      {{faster, "faster"}, {slower, "slower"}, {tie, "cannot be told apart"}, {not_comparable, "not comparable"}}};
};

namespace charts {

struct Standing {
  Outcome outcome = Outcome::not_comparable;
  Unlike unlike = Unlike::none;        // why they are not comparable
  double ratio = 1;                    // B's median / A's; 1 if they are not comparable
  std::optional<model::Bar> bar = {};  // of the ratio; empty unless both times are modelled
};

// The only place in the window that decides about two times. comparable() says whether they can be compared. Two
// measured times cannot be told apart if their intervals overlap, nor can two that read the same. For two modelled
// times the bar of their ratio decides (model/bars.h).
Standing standing_of(const Observation& a, const Observation& b);

// "−18.4 %", "a tie (+0.2 %)", "the same", "not comparable"
std::string change_text(const Standing& standing);
// "faster, −18.4 %", "cannot be told apart (+0.2 %)", "not comparable: another problem"
std::string verdict_text(const Standing& standing);
// +1: B is faster, -1: slower, 0: neither.
int better(const Standing& standing);

// True if the counts and bytes of the two runs can be compared: same operation, problem and device, whatever their
// times.
bool same_work(const Observation& a, const Observation& b);

}  // namespace charts
}  // namespace attnscope
