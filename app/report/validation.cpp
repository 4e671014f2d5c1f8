#include "report/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/escape.h"
#include "core/fields.h"
#include "measure/statistics.h"
#include "report/markdown.h"

namespace attnscope {

namespace {
constexpr Limits kRows{.most = 100000, .required = true}, kSets{.most = 1000, .required = true};
constexpr Limits kRefused{.most = 100000}, kShort{.bytes = 2000}, kAsked{.bytes = 2000, .required = true};
constexpr Limits kUs{.low = 1e-6, .high = 1e12, .required = true};
}  // namespace

template <>
struct FieldsOf<report::ValidationRow> {
  using Of = report::ValidationRow;
  static constexpr auto list = std::tuple{Field{"problem", &Of::problem, kAsked},
                                          Field{"kernel", &Of::kernel, kAsked},
                                          Field{"config", &Of::config, kAsked},
                                          Field{"code_hash", &Of::code_hash, kShort},
                                          Field{"us", &Of::us, kUs},
                                          Field{"modelled", &Of::modelled, kUs},
                                          Ends<Of>{"bar", &Of::bar_low, &Of::bar_high},
                                          Field{"bound", &Of::bound},
                                          Field{"terms", &Of::terms}};
};

template <>
struct FieldsOf<report::ValidationRefusal> {
  using Of = report::ValidationRefusal;
  static constexpr auto list = std::tuple{Field{"problem", &Of::problem, kAsked}, Field{"kernel", &Of::kernel, kAsked},
                                          Field{"config", &Of::config, kAsked}, Field{"reason", &Of::reason, kShort}};
};

template <>
struct FieldsOf<report::ValidationSet> {
  using Of = report::ValidationSet;
  static constexpr auto list = std::tuple{
      Field{"device", &Of::device, kAsked}, Field{"arch", &Of::arch, Limits{.low = 0, .high = 200, .required = true}},
      Field{"model", &Of::model, kShort},   Field{"date", &Of::date, kShort},
      Field{"driver", &Of::driver, kShort}, Field{"nvrtc", &Of::nvrtc, kShort},
      Field{"app", &Of::app, kShort},       Field{"how", &Of::how, kShort},
      Field{"rows", &Of::rows, kRows},      Field{"refused", &Of::refused, kRefused}};
};

template <>
struct FieldsOf<report::Validation> {
  using Of = report::Validation;
  static constexpr auto list =
      std::tuple{Field{"attnscope_validation", &Of::version, Limits{.low = 1, .high = Of::kVersion, .required = true}},
                 Field{"sets", &Of::sets, kSets}};
};

namespace report {
namespace {

constexpr size_t kMostRefusals = 12;  // listed on the page

std::string line_of(const std::string& name, const std::vector<const ValidationRow*>& rows) {
  std::vector<double> errors, ratios;
  size_t inside = 0;
  for (const ValidationRow* row : rows) {
    errors.push_back(100 * std::abs(row->modelled / row->us - 1));
    ratios.push_back(row->ratio());
    inside += row->inside() ? 1 : 0;
  }
  std::ranges::sort(errors);
  std::ranges::sort(ratios);
  return markdown_line({name, std::to_string(rows.size()), fmt::format("{:.1f} %", measure::quantile(errors, 0.5)),
                        fmt::format("{:.1f} %", measure::quantile(errors, 0.9)),
                        fmt::format("{:.2f}", measure::quantile(ratios, 0.5)),
                        fmt::format("{:.0f} %", 100 * double(inside) / double(rows.size()))});
}

template <class Name>
std::string table_of(const ValidationSet& set, const char* heading, Name name) {
  std::map<std::string, std::vector<const ValidationRow*>> groups;
  for (const ValidationRow& row : set.rows) {
    groups[std::string(name(row))].push_back(&row);
    groups["all"].push_back(&row);
  }
  const std::vector<std::string> head{
      heading, "configs", "median error", "90th percentile", "measured / modelled", "inside the bar"};
  std::string text = markdown_line(head) + rule(head.size());
  for (const auto& [group, rows] : groups) text += line_of(group, rows);
  return text + "\n";
}

}  // namespace

Json to_json(const Validation& validation) { return write_fields(validation); }

Result<Validation> validation_from_json(const Json& json, const std::string& where) {
  return read_fields<Validation>(json, where, Stage::input);
}

void put_set(Validation& validation, ValidationSet set) {
  const auto same = [&](const ValidationSet& one) {
    return one.device == set.device && one.driver == set.driver && one.nvrtc == set.nvrtc && one.app == set.app;
  };
  std::erase_if(validation.sets, same);
  validation.sets.push_back(std::move(set));
}

std::string as_markdown(const ValidationSet& set) {
  std::string text = markdown_text(fmt::format("The model of {} on {}", set.model, set.device));
  text = "# " + text + "\n\n" +
         markdown_text(fmt::format("{} configs timed on {}, driver {}, NVRTC {}.", set.rows.size(), set.date,
                                   set.driver, set.nvrtc)) +
         "\n\n";
  if (set.rows.empty()) text += "No config was both timed and modelled.\n\n";
  if (!set.rows.empty()) {
    text += table_of(set, "bound", [](const ValidationRow& row) { return to_string(row.bound); });
    text += table_of(set, "kernel", [](const ValidationRow& row) { return row.kernel; });
    text += table_of(set, "problem", [](const ValidationRow& row) { return row.problem; });
  }
  if (set.refused.empty()) return text;
  text += fmt::format("\nNot timed or not modelled ({}):\n\n", set.refused.size());
  for (size_t i = 0; i < std::min(kMostRefusals, set.refused.size()); ++i) {
    const ValidationRefusal& one = set.refused[i];
    text +=
        "- " + markdown_text(fmt::format("{} {} at {}: {}", one.kernel, one.config, one.problem, one.reason)) + "\n";
  }
  if (set.refused.size() > kMostRefusals)
    text += fmt::format("- and {} more, in the JSON file\n", set.refused.size() - kMostRefusals);
  return text;
}

}  // namespace report
}  // namespace attnscope
