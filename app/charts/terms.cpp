#include "charts/terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

constexpr size_t kMostNamed = 5;
constexpr double kLeastCarried = 0.05;  // smallest share of the time for which an instruction gets a line

// name(entry) and share of the first entries, which are the longest, then how many more there are.
template <class T, class Name>
std::string shares_text(const std::vector<T>& entries, double total, Name name) {
  std::string text;
  double rest = total;
  const size_t named = entries.size() == kMostNamed + 1 ? entries.size() : std::min(entries.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(entries[i]), percent_text(entries[i].us / total));
    rest -= entries[i].us;
  }
  if (named < entries.size()) text += fmt::format(", {} more {}", entries.size() - named, percent_text(rest / total));
  return text;
}

}  // namespace

std::string terms_text(const Timing& timing) {
  if (!timing.terms || timing.p50 <= 0) return {};
  if (!timing.terms->missing.empty()) return "none: " + timing.terms->missing;
  return shares_text(timing.terms->list, timing.p50, [](const Term& term) { return to_string(term.kind); });
}

std::string carrier_text(const Timing& timing) {
  if (!timing.terms || timing.p50 <= 0) return {};
  const TermLine* most = nullptr;
  for (const Term& term : timing.terms->list)
    for (const TermLine& line : term.lines)
      if (!line.source.empty() && (most == nullptr || line.us > most->us)) most = &line;
  if (most == nullptr || most->us < kLeastCarried * timing.p50) return {};
  std::string text = percent_text(most->us / timing.p50) + " at " + most->source;
  if (most->waiting_address != most->address && !most->waiting_source.empty())
    text += ", where " + most->waiting_source + " waits";
  return text;
}

std::string phases_text(const Timing& timing) {
  if (!timing.terms || timing.p50 <= 0) return {};
  return shares_text(timing.terms->phases, timing.p50, [](const Phase& phase) { return phase.name; });
}

}  // namespace attnscope::charts
