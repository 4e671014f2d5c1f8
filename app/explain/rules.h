#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/source_lines.h"
#include "explain/facts.h"
#include "explain/next.h"

namespace attnscope::explain {

// A rule examines the facts and returns one finding or none. It knows no kernel, knob or device by name: thresholds are
// shares of the time, or come from the device's spec.
using Look = std::optional<Finding> (*)(const Facts&);

struct RuleOf {
  RuleId id = RuleId::unknown;
  Look look = nullptr;
  std::string_view helps;  // what helps, for a learner; added to the sentence
  Wants wants = Wants::source;
};
// Each file's rules, at its end.
std::span<const RuleOf> warp_rules();
std::span<const RuleOf> memory_rules();
std::span<const RuleOf> place_rules();
std::span<const RuleOf> unit_rules();
std::span<const RuleOf> source_rules();
std::span<const RuleOf> all_rules();  // in the order of core/rule.h

// Severities: a cure that saves less than kSilent of the time is not reported; one that saves at least kWarning of it
// is a warning.
inline constexpr double kSilent = 0.02, kWarning = 0.1;

// The finding, if `saved` us are enough for one.
std::optional<Finding> costs(const Facts& facts, RuleId rule, double saved, std::string sentence,
                             std::vector<Evidence> evidence, const Instruction* at = nullptr);
// A finding without a time.
Finding note(RuleId rule, Severity severity, std::string sentence, std::vector<Evidence> evidence,
             const Instruction* at = nullptr);
void put_place(Finding& finding, const SourcePlace& place);
Evidence counted(std::string name, double value, std::string unit = "");
Evidence modelled(std::string name, double value, std::string unit = "us");
// The instruction that carries most of the stalls for which `wanted` returns true; null if none does.
template <class Wanted>
const Instruction* carrier(const Facts& facts, Wanted wanted) {
  std::vector<double> us(facts.code.size());
  const Instruction* most = nullptr;
  double highest = 0;
  for (const model::Stall& stall : facts.stalls) {
    if (stall.producer == model::Stall::kNone || !wanted(stall)) continue;
    if ((us[stall.producer] += stall.time) <= highest) continue;
    highest = us[stall.producer];
    most = &facts.code[stall.producer];
  }
  return most;
}
// "31 %"
std::string percent(double share);
// "02_tiled.cu:174", or "an unknown line".
std::string place(const Instruction& at);

bool loads_global(const Instruction& one);  // includes asynchronous copies
// Bytes that all CTAs request from global memory.
double loaded_bytes(const Facts& facts);
// True if each byte of the inputs is loaded more than twice; false if their size is unknown.
bool loads_repeat(const Facts& facts);

// The limiting resource with figures: "a CTA takes 37,920 B of an SM's 102,400 B of shared memory".
std::string limit_text(const Facts& facts);
// True if the grid has a last wave that would not be there if one more CTA fitted on each SM.
bool one_more_cta_holds_the_grid(const Facts& facts);

// Lanes that read or write neighbouring bytes of global memory, fewer bytes than an access can take.
inline constexpr double kWidest = 16;  // bytes per lane, on every architecture
bool is_narrow(const Instruction& one);

}  // namespace attnscope::explain
