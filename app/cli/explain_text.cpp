#include "cli/explain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"
#include "charts/term_table.h"
#include "charts/words.h"
#include "cli/findings.h"
#include "core/command_words.h"
#include "core/comparable.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/joined.h"
#include "core/number_text.h"
#include "core/where_of.h"

namespace attnscope::cli {
namespace {

std::string plain_us(double us) { return number_text(us) + " us"; }

std::string evidence_text(const Evidence& one) {
  return fmt::format("{} {}{} ({})", one.name, number_text(one.value, 6), one.unit.empty() ? "" : " " + one.unit,
                     to_string(one.kind));
}

std::string where_text(const Finding& finding) {
  const auto part = [&](const char* key) { return where_of(finding, key); };
  std::string text = part("file");
  if (!text.empty() && !part("line").empty()) text += ":" + part("line");
  if (!part("launch").empty()) text += (text.empty() ? "launch " : ", launch ") + part("launch");
  if (!part("phase").empty()) text += (text.empty() ? "" : ", in ") + part("phase");
  return text;
}

std::string next_command(const Next& next, const Observation& o, const Kernel& kernel) {
  Draft draft = o.experiment;
  for (const auto& [knob, value] : next.set) draft.config.knobs[knob] = value;
  return shell_text(run_words(draft, kernel));
}

void add_line(std::string& out, const std::string& text) { out += "   " + one_line(text) + "\n"; }

// `us`: the run's time; 0: none.
void add_finding(std::string& out, const Finding& finding, int number, double us) {
  const std::string title(finding.rule.says().empty() ? finding.rule.name() : finding.rule.says());
  const std::string gain = finding.gain ? charts::gain_text(*finding.gain, us, plain_us) : "";
  out += one_line(fmt::format("{}. {}  [{}, {}]{}", number, title, finding.rule.name(), to_string(finding.severity),
                              gain.empty() ? "" : "  " + gain)) +
         "\n";
  add_line(out, finding.sentence);
  if (!finding.evidence.empty()) add_line(out, "evidence  " + joined(finding.evidence, evidence_text, "; "));
  if (const std::string where = where_text(finding); !where.empty()) add_line(out, "where     " + where);
}

// "   2 more: banks.conflicts, shared.queue (--all shows them)"
void name_others(std::string& out, const std::vector<const Finding*>& others) {
  if (others.empty()) return;
  std::vector<std::string> rules;
  for (const Finding* one : others)
    if (std::ranges::find(rules, one->rule.name()) == rules.end()) rules.push_back(one->rule.name());
  out += "\n";
  add_line(out, fmt::format("{} more: {} (--all shows {})", others.size(), joined(rules),
                            others.size() == 1 ? "it" : "them"));
}

// Where the time goes, and the causes that cost most, each with all its findings.
void add_first(std::string& out, const std::vector<const Finding*>& findings, double us, const Kernel& kernel) {
  for (const Finding* one : findings)
    if (charts::says_where(*one)) out += one_line(one->sentence) + "\n";
  const std::vector<charts::Cause> causes = charts::causes(findings);
  const size_t shown = std::min(causes.size(), charts::Cause::kFew);
  if (shown > 0) out += fmt::format("\nFirst of {} cause{}\n", causes.size(), causes.size() == 1 ? "" : "s");
  for (size_t i = 0; i < shown; ++i) {
    std::string line = fmt::format("{}. {}", i + 1, causes[i].names([](const Rule& rule) { return rule.name(); }));
    if (const Gain* gain = causes[i].gain()) line += ": " + charts::gain_text(*gain, us, plain_us);
    if (const Next* next = causes[i].next()) line += "; " + charts::set_words(*next, &kernel);
    out += one_line(line) + "\n";
  }
}

// Both times term by term, those that changed most first, below what A is and whether the two are a pair.
void add_terms(std::string& out, const Observation& a, const Observation& b) {
  out += one_line(fmt::format("A: {}, {} on {}{}", a.experiment.kernel, short_text(a.experiment.problem), a.device,
                              a.timing ? fmt::format(", {}", to_string(a.timing->kind)) : "")) +
         "\n";
  if (const Unlike unlike = comparable(a, b); unlike != Unlike::none)
    out += fmt::format("A and B are not a pair, {}: {}\n", to_string(unlike), one_line(charts::unlike_sentence(a, b)));
  Timing none;
  none.terms.emplace();
  const charts::TermTable table =
      charts::term_table(a.timing ? &*a.timing : nullptr, b.timing && b.timing->terms ? *b.timing : none);
  out += fmt::format("{:<24} {:>10} {:>10} {:>10}\n", "us", "A", "B", "B - A");
  for (const charts::TermRow& row : table.rows)
    out += fmt::format("{:<24} {:>10.1f} {:>10.1f} {:>+10.1f}\n", to_string(row.kind), row.a, row.b, row.difference());
  if (a.timing && b.timing)
    out += fmt::format("{:<24} {:>10.1f} {:>10.1f} {:>+10.1f}\n", "time", a.timing->p50, b.timing->p50,
                       b.timing->p50 - a.timing->p50);
}

}  // namespace

std::string explanation_of(const Observation& o, const Kernel& kernel, const Observation* against, size_t most) {
  std::string out = one_line(fmt::format("{}  {}", o.experiment.kernel, short_text(o.experiment.config, kernel))) +
                    "\n" + one_line(fmt::format("{} on {}", short_text(o.experiment.problem), o.device)) + "\n";
  if (o.timing)
    out += fmt::format("{} us {}{}\n", charts::terminal_us(o.timing->p50), to_string(o.timing->kind),
                       headline_of(o) ? fmt::format(", {}", to_string(*headline_of(o))) : "");
  if (against != nullptr) {
    out += "\n";
    add_terms(out, *against, o);
  }
  const auto add = [&](const Finding& finding, int number) {
    add_finding(out, finding, number, o.timing ? o.timing->p50 : 0);
    if (finding.next && !finding.next->set.empty())
      add_line(out, "next      " + next_command(*finding.next, o, kernel));
    else if (finding.severity == Severity::warning && finding.gain && finding.where.contains("line"))
      add_line(out, fmt::format("next      change {}:{}; no knob is known to do it", finding.where.at("file"),
                                finding.where.at("line")));
  };
  const std::vector<const Finding*> findings = charts::all_findings(o);
  add_first(out, findings, o.timing ? o.timing->p50 : 0, kernel);
  for (const charts::FindingsOfGroup& group : charts::by_group(findings)) {
    const size_t count = group.at.size(), shown = std::min(count, most);
    out += fmt::format("\n{}, {} finding{}\n", to_string(group.group), count, count == 1 ? "" : "s");
    for (size_t i = 0; i < shown; ++i) {
      if (i > 0) out += "\n";
      add(*findings[group.at[i]], static_cast<int>(i + 1));
    }
    std::vector<const Finding*> others;
    for (size_t i = shown; i < count; ++i) others.push_back(findings[group.at[i]]);
    name_others(out, others);
  }
  if (findings.empty()) out += "\nNothing to say: no rule finds anything.\n";
  if (o.timing && !o.watch && kernel.library.is_source()) out += fmt::format("\n{}\n", kNotWatched);
  return out;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string out;
  int number = 0;
  for (const Finding& finding : findings) add_finding(out, finding, ++number, 0);
  return findings.empty() ? "Nothing is wrong.\n" : out;
}

}  // namespace attnscope::cli
