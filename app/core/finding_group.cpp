#include "core/finding_group.h"

#include <utility>

namespace attnscope {
namespace {

// By family: the part of a rule's name before the dot.
constexpr std::pair<std::string_view, FindingGroup> kGroups[] = {{"barrier", FindingGroup::correctness},
                                                                 {"race", FindingGroup::correctness},
                                                                 {"never_written", FindingGroup::correctness},
                                                                 {"output", FindingGroup::correctness},
                                                                 {"shuffle", FindingGroup::correctness},
                                                                 {"luck", FindingGroup::correctness},
                                                                 {"error", FindingGroup::correctness},
                                                                 {"call", FindingGroup::correctness},
                                                                 {"limits", FindingGroup::launch},
                                                                 {"occupancy", FindingGroup::launch},
                                                                 {"grid", FindingGroup::launch},
                                                                 {"launch", FindingGroup::launch},
                                                                 {"banks", FindingGroup::memory},
                                                                 {"shared", FindingGroup::memory},
                                                                 {"global", FindingGroup::memory},
                                                                 {"local", FindingGroup::memory},
                                                                 {"warps", FindingGroup::warps},
                                                                 {"threads", FindingGroup::warps},
                                                                 {"wait", FindingGroup::warps},
                                                                 {"latency", FindingGroup::warps},
                                                                 {"mufu", FindingGroup::arithmetic},
                                                                 {"tensor", FindingGroup::arithmetic},
                                                                 {"double", FindingGroup::arithmetic},
                                                                 {"integer", FindingGroup::arithmetic},
                                                                 {"code", FindingGroup::code},
                                                                 {"knob", FindingGroup::code},
                                                                 {"helper", FindingGroup::code},
                                                                 {"bound", FindingGroup::figures},
                                                                 {"phase", FindingGroup::figures},
                                                                 {"times", FindingGroup::figures},
                                                                 {"metric", FindingGroup::figures},
                                                                 {"samples", FindingGroup::figures}};

}  // namespace

FindingGroup group_of(const Rule& rule) {
  const std::string_view name = rule.name(), family = name.substr(0, name.find('.'));
  for (const auto& [known, group] : kGroups)
    if (known == family) return group;
  return FindingGroup::other;
}

}  // namespace attnscope
