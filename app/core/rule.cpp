#include "core/rule.h"

#include <algorithm>

namespace attnscope {
namespace {

std::string_view family(std::string_view name) { return name.substr(0, name.find('.')); }

// Findings without a gain are in the order of RuleId, so the enumeration has the order of the table.
static_assert([] {
  for (size_t at = 0; at < std::size(kRules); ++at)
    if (kRules[at].id != static_cast<RuleId>(at + 1)) return false;
  return true;
}());

template <class Wanted>
RuleRow row_where(Wanted wanted) {
  const auto* const found = std::ranges::find_if(kRules, wanted);
  return found == std::end(kRules) ? RuleRow{RuleId::unknown, "", FindingGroup::other, Headline::fault, ""} : *found;
}

RuleRow row_of(RuleId id) {
  return row_where([id](const RuleRow& row) { return row.id == id; });
}

RuleRow first_of_family(std::string_view name) {
  return row_where([name](const RuleRow& row) { return family(row.name) == family(name); });
}

}  // namespace

Rule::Rule(RuleId id) : id_(id), name_(row_of(id).name) {}

Rule Rule::named(std::string name) {
  Rule rule = row_where([&](const RuleRow& row) { return row.name == name; }).id;
  rule.name_ = std::move(name);
  return rule;
}

Headline Rule::headline() const { return first_of_family(name_).headline; }

FindingGroup Rule::group() const { return first_of_family(name_).group; }

std::string_view Rule::says() const { return label(row_of(id_).says); }

}  // namespace attnscope
