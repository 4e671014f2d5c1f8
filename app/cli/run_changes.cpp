#include "cli/run_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"
#include "charts/tables.h"
#include "core/escape.h"
#include "core/headline.h"

namespace attnscope::cli {
namespace {

// Without lines, threads and counts, which change with every edit.
std::string without_digits(const Located& one) {
  std::string text = one.rule + " " + one.message;
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// Those of `all` without a counterpart in `others`.
std::vector<Located> only_in(const std::vector<Located>& all, const std::vector<Located>& others) {
  std::vector<std::string> left;
  for (const Located& one : others) left.push_back(without_digits(one));
  std::vector<Located> only;
  for (const Located& one : all) {
    const auto found = std::ranges::find(left, without_digits(one));
    if (found == left.end())
      only.push_back(one);
    else
      left.erase(found);
  }
  return only;
}

std::string change_line(const std::string& text) { return "  " + one_line(text) + "\n"; }

}  // namespace

std::string summary_of(const Observation& o, const SourceFile& source) {
  const auto headline = headline_of(o);
  std::string text = o.failure ? "failed" : headline ? std::string(to_string(*headline)) : "no verdict";
  if (o.timing) text += fmt::format(", {} us {}", charts::terminal_us(o.timing->p50), to_string(o.timing->kind));
  const size_t findings = located(o, source).size() - (o.failure ? 1 : 0);
  return text + fmt::format(", {} finding{}", findings, findings == 1 ? "" : "s");
}

std::string changes_of(const Observation& before, const Observation& after, const SourceFile& source) {
  std::string out;
  for (const charts::ComparedRow& row : charts::compare(before, after))
    if (row.differs)
      out += change_line(fmt::format("{}: {} -> {}{}", row.name, row.before, row.after,
                                     row.change.empty() ? "" : " (" + row.change + ")"));
  const auto now = located(after, source), earlier = located(before, source);
  for (const Located& one : only_in(now, earlier)) out += change_line("new: " + line_of(one));
  for (const Located& one : only_in(earlier, now)) out += change_line("gone: " + line_of(one));
  return out.empty() ? "  nothing changed\n" : out;
}

}  // namespace attnscope::cli
