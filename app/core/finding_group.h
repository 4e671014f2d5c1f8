#pragma once
#include "core/rule.h"

namespace attnscope {

// What a finding is about. People are shown findings by group.
enum class FindingGroup {
  correctness,
  launch,
  memory,
  warps,
  arithmetic,
  code,
  figures,  // how the run's figures are to be read
  other     // findings of a rule that this version does not know
};
template <>
struct Words<FindingGroup> {
  using enum FindingGroup;
  static constexpr WordTable<FindingGroup, 8> table{{{correctness, "correctness"},
                                                     {launch, "launch and occupancy"},
                                                     {memory, "memory"},
                                                     {warps, "warps and waits"},
                                                     {arithmetic, "arithmetic"},
                                                     {code, "code and knobs"},
                                                     {figures, "figures"},
                                                     {other, "other"}}};
};

// That of the rule's family.
FindingGroup group_of(const Rule& rule);

}  // namespace attnscope
