#include "charts/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "charts/format.h"
#include "charts/standing.h"
#include "core/headline.h"
#include "core/observation_fields.h"

namespace attnscope::charts {
namespace {

FigureRow count_row(std::string name, int64_t value, std::string term, FigureKind kind, std::string note = {}) {
  return {std::move(name), with_commas(value), std::move(note), std::move(term), kind};
}

// "shared_load" → "shared load", which the glossary explains.
std::string words_of_class(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

FigureGroup instruction_group(const Counters& counters, const Counters* baseline) {
  FigureGroup group{"Warp instructions", {}};
  int64_t total = 0;
  std::vector<std::pair<std::string, int64_t>> classes;
  for (const auto& [name, count] : counters.instructions) {
    if (name == kAllInstructions)
      total = count;
    else if (count > 0)
      classes.emplace_back(name, count);
  }
  int64_t baseline_total = 0;
  if (baseline != nullptr)
    for (const auto& [name, count] : baseline->instructions) {
      if (name == kAllInstructions) continue;
      baseline_total += count;
      const auto here = counters.instructions.find(name);
      if (count > 0 && (here == counters.instructions.end() || here->second <= 0)) classes.emplace_back(name, 0);
    }
  if (total == 0)
    for (const auto& entry : classes) total += entry.second;
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  group.rows.push_back(count_row("total", total, "instructions", counters.kind));
  for (const auto& [name, count] : classes) {
    const double share = total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
    const std::string words = words_of_class(name);
    group.rows.push_back(count_row(words, count, words, counters.kind, share > 0 ? percent_text(share) : ""));
    group.rows.back().share = share;
    if (baseline == nullptr) continue;
    const auto there = baseline->instructions.find(name);
    group.rows.back().baseline = with_commas(there == baseline->instructions.end() ? 0 : there->second);
  }
  if (baseline != nullptr) {
    const int64_t there = all_instructions(*baseline);
    group.rows.front().baseline = with_commas(there == 0 ? baseline_total : there);
  }
  return group;
}

std::string value_text(int64_t count) { return with_commas(count); }
std::string value_text(double mean) { return fmt::format("{:.2f}", mean); }

constexpr int64_t kSectorBytes = 32;

std::string beside(Beside what, const Counters& counters, double value) {
  switch (what) {
    case Beside::nothing:
      return "";
    case Beside::of_a_warp:
      return "of 32";
    case Beside::without_conflicts:
      return "without conflicts";
    case Beside::share_of_wavefronts:
      if (counters.shared_wavefronts <= 0) return "";
      return percent_text(value / static_cast<double>(counters.shared_wavefronts)) + " of wavefronts";
    case Beside::bytes_of_sectors:
      return kib_text(std::llround(value) * kSectorBytes);
  }
  return "";
}

std::string optional_us(const Observation& seen) {
  return seen.timing ? us_text(seen.timing->p50) + " " + std::string(to_string(seen.timing->kind)) : "\u2013";
}

enum class Better { smaller, larger };

ComparedRow number_row(std::string name, std::optional<double> a, std::optional<double> b, Better better,
                       std::string (*text)(double)) {
  ComparedRow row;
  row.name = std::move(name);
  row.before = a ? text(*a) : "\u2013";
  row.after = b ? text(*b) : "\u2013";
  row.differs = a != b;
  if (a && b && *a != *b) {
    if (*a != 0) row.change = signed_percent_text(*b / *a - 1);
    row.better = (*b < *a) == (better == Better::smaller) ? 1 : -1;
  }
  return row;
}

std::string whole(double value) { return with_commas(std::llround(value)); }

// A figure from one part of an observation, such as its verdict; empty if the observation lacks the part. `figure` is a
// member of the part, or computes the figure from it.
template <class Part, class Figure>
std::optional<double> figure_of(const Observation& seen, std::optional<Part> Observation::*part, Figure figure) {
  if (!(seen.*part)) return std::nullopt;
  return static_cast<double>(std::invoke(figure, *(seen.*part)));
}

// "relative Frobenius 0.01, atol and rtol 0.002"
std::string limits_of(const Verdict& verdict) {
  const std::string frobenius =
      verdict.rel_frobenius_limit > 0 ? "relative Frobenius " + error_text(verdict.rel_frobenius_limit) + ", " : "";
  if (verdict.atol == verdict.rtol) return frobenius + "atol and rtol " + error_text(verdict.atol);
  return frobenius + fmt::format("atol {}, rtol {}", error_text(verdict.atol), error_text(verdict.rtol));
}

}  // namespace

std::vector<FigureRow> verdict_rows(const Verdict& verdict, const Verdict* baseline) {
  const FigureKind kind = FigureKind::counted;
  auto row = [kind](std::string name, std::string value, std::string note, std::string term, bool bad) {
    return FigureRow{std::move(name), std::move(value), std::move(note), std::move(term), kind, bad};
  };
  std::vector<FigureRow> rows;
  rows.push_back(row("relative Frobenius", error_text(verdict.rel_frobenius),
                     verdict.rel_frobenius_limit > 0 ? "limit " + error_text(verdict.rel_frobenius_limit) : "",
                     "relative Frobenius",
                     verdict.rel_frobenius_limit > 0 && !(verdict.rel_frobenius <= verdict.rel_frobenius_limit)));
  if (verdict.naive_rel_frobenius > 0)  // only for attention
    rows.push_back(row("of naive fp32", error_text(verdict.naive_rel_frobenius), "for scale", "naive error", false));
  rows.push_back(row("max |error|", error_text(verdict.max_abs), "", "max abs", false));
  rows.push_back(row("mean |error|", error_text(verdict.mean_abs), "", "mean abs", false));
  rows.push_back(row("outside tolerance", percent_text(verdict.outside_share),
                     verdict.atol == verdict.rtol
                         ? "atol, rtol " + error_text(verdict.atol)
                         : fmt::format("atol {}, rtol {}", error_text(verdict.atol), error_text(verdict.rtol)),
                     "tolerance", verdict.outside_share > 0));
  rows.push_back(
      row("misplaced NaN, Inf", with_commas(verdict.nonfinite), "limit 0", "nonfinite", verdict.nonfinite > 0));
  rows.push_back(row("cosine", fmt::format("{:.6f}", verdict.cosine), "", "cosine", false));
  rows.push_back(
      row("rows checked", with_commas(verdict.rows_checked),
          verdict.rows_total > 0
              ? (verdict.rows_checked == verdict.rows_total ? "all of them" : "of " + with_commas(verdict.rows_total))
              : "",
          "rows checked", false));
  if (baseline == nullptr) return rows;
  for (const FigureRow& theirs : verdict_rows(*baseline))
    for (FigureRow& own : rows)
      if (own.name == theirs.name) own.baseline = theirs.value;
  return rows;
}

std::string checked_text(const Verdict& verdict) {
  if (verdict.rows_checked == 0 || verdict.rows_checked >= verdict.rows_total) return "";
  return fmt::format("{} of {} rows checked", with_commas(verdict.rows_checked), with_commas(verdict.rows_total));
}

std::string limits_text(const Verdict& verdict, const Verdict* baseline) {
  std::string text = "Limits: " + limits_of(verdict) + ", no misplaced NaN or Inf";
  if (const std::string checked = checked_text(verdict); !checked.empty()) text += "; " + checked;
  if (baseline != nullptr && limits_of(*baseline) != limits_of(verdict)) text += "; A's: " + limits_of(*baseline);
  return text;
}

std::vector<FigureGroup> counter_groups(const Counters& counters, const Counters* baseline) {
  std::vector<FigureGroup> groups{
      instruction_group(counters, baseline), {"Lanes", {}}, {"Shared memory", {}}, {"Global memory", {}}};
  for_each_counter([&](const CounterRow& row, auto member) {
    FigureRow figure{std::string(label(row.label)), value_text(counters.*member),
                     beside(row.beside, counters, static_cast<double>(counters.*member)), std::string(row.term),
                     counters.kind};
    if (baseline != nullptr) figure.baseline = value_text(baseline->*member);
    groups[1 + static_cast<size_t>(row.group)].rows.push_back(std::move(figure));
  });
  return groups;
}

std::vector<FigureGroup> launch_groups(const Observation& seen, const Observation* baseline) {
  if (seen.launches.empty()) return {};
  const bool alike = baseline != nullptr && std::ranges::equal(seen.launches, baseline->launches, {},
                                                               &LaunchFigures::name, &LaunchFigures::name);
  double whole = 0;
  for (const LaunchFigures& one : seen.launches) whole += one.timing ? one.timing->p50 : 0;
  // A GPU measures a program only as a whole.
  const auto time = [](const LaunchFigures& one) { return one.timing ? us_text(one.timing->p50) : std::string(); };
  FigureGroup group{"Launches", {}};
  for (size_t i = 0; i < seen.launches.size(); ++i) {
    const LaunchFigures& one = seen.launches[i];
    FigureRow row{fmt::format("{} {}", i + 1, one.name), time(one), "", "", FigureKind::modelled};
    if (whole > 0 && one.timing) row.share = one.timing->p50 / whole;
    const auto add = [&](const std::string& text) { row.note += (row.note.empty() ? "" : ", ") + text; };
    if (row.share > 0) add(percent_text(row.share));
    if (one.counters)
      if (const int64_t total = all_instructions(*one.counters); total > 0)
        add(with_commas(total) + " warp instructions");
    if (one.variant) add(fmt::format("{} registers", one.variant->registers));
    if (one.occupancy) add("occupancy " + percent_text(one.occupancy->fraction));
    if (alike) row.baseline = time(baseline->launches[i]);
    group.rows.push_back(std::move(row));
  }
  return {group};
}

std::string counter_share_text(const Counters& counters) {
  if (counters.total_ctas <= 0) return "exact";
  if (counters.emulated_ctas >= counters.total_ctas)
    return fmt::format("exact, all {} CTAs", with_commas(counters.total_ctas));
  return fmt::format(
      "sampled: {} of {} CTAs ({})", with_commas(counters.emulated_ctas), with_commas(counters.total_ctas),
      percent_text(static_cast<double>(counters.emulated_ctas) / static_cast<double>(counters.total_ctas)));
}

std::optional<double> relative_error(const Observation& seen) {
  if (!seen.verdict || (seen.verdict->state == VerdictState::unchecked && seen.verdict->rows_checked == 0))
    return std::nullopt;
  return seen.verdict->rel_frobenius;
}

std::vector<ComparedRow> compare(const Observation& a, const Observation& b) {
  std::vector<ComparedRow> rows;
  const auto number = [&](std::string name, auto part, auto figure, Better better, std::string (*text)(double)) {
    rows.push_back(number_row(std::move(name), figure_of(a, part, figure), figure_of(b, part, figure), better, text));
  };
  number("latency, median", &Observation::timing, &Timing::p50, Better::smaller, us_text);
  ComparedRow& latency = rows.back();
  latency.before = optional_us(a);
  latency.after = optional_us(b);
  if (a.timing && b.timing) {
    const Standing standing = standing_of(a, b);
    latency.change = latency.differs || standing.outcome == Outcome::not_comparable ? change_text(standing) : "";
    latency.better = better(standing);
  }
  const auto before = headline_of(a), after = headline_of(b);
  const auto word = [](const auto& headline) { return headline ? std::string(to_string(*headline)) : "\u2013"; };
  ComparedRow verdict{"verdict", word(before), word(after), "", 0, before != after};
  if (verdict.differs && after) verdict.better = *after == Headline::correct ? 1 : is_fault(*after) ? -1 : 0;
  rows.push_back(verdict);
  const auto shared = [](const VariantInfo& v) { return v.static_shared_bytes + v.dynamic_shared_bytes; };
  rows.push_back(number_row("relative Frobenius", relative_error(a), relative_error(b), Better::smaller, error_text));
  const std::string of = a.launches.empty() && b.launches.empty() ? "" : ", longest launch";
  number("shared memory, B" + of, &Observation::variant, shared, Better::smaller, whole);
  number("registers" + of, &Observation::variant, &VariantInfo::registers, Better::smaller, whole);
  number("spills, B" + of, &Observation::variant, &VariantInfo::spill_bytes, Better::smaller, whole);
  number("CTAs per SM" + of, &Observation::occupancy, &Occupancy::ctas_per_sm, Better::larger, whole);
  number("occupancy" + of, &Observation::occupancy, &Occupancy::fraction, Better::larger, percent_text);
  number("warp instructions", &Observation::counters, &all_instructions, Better::smaller, count_text);
  for_each_counter([&](const CounterRow& row, auto member) {
    if (!row.compared.empty())
      number(std::string(label(row.compared)), &Observation::counters, member, Better::smaller, count_text);
  });
  if (!same_work(a, b))
    for (ComparedRow& row : rows) {
      row.better = 0;
      if (&row != &rows.front()) row.change.clear();
    }
  return rows;
}

Sheet sheet_of(const std::vector<FigureGroup>& groups) {
  Sheet sheet{{"group", "figure", "value", "a", "note", "kind"}, {}};
  for (const FigureGroup& group : groups)
    for (const FigureRow& row : group.rows)
      sheet.rows.push_back(
          {group.title, row.name, row.value, row.baseline, row.note, std::string(to_string(row.kind))});
  return sheet;
}

Sheet sheet_of(const std::vector<ComparedRow>& rows) {
  Sheet sheet{{"figure", "a", "b", "change"}, {}};
  for (const ComparedRow& row : rows) sheet.rows.push_back({row.name, row.before, row.after, row.change});
  return sheet;
}

}  // namespace attnscope::charts
