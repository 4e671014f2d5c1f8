#include "charts/term_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

TermRow& row_of(std::vector<TermRow>& rows, TermKind kind) {
  const auto found = std::ranges::find(rows, kind, &TermRow::kind);
  return found != rows.end() ? *found : rows.emplace_back(TermRow{kind, 0, 0});
}

}  // namespace

bool has_terms(const Timing& timing) { return timing.terms && !timing.terms->list.empty(); }

TermTable term_table(const Timing* a, const Timing& b) {
  TermTable table;
  table.against = a != nullptr && has_terms(*a);
  table.b = b.p50;
  for (const Term& term : b.terms->list) row_of(table.rows, term.kind).b = term.us;
  if (table.against) {
    table.a = a->p50;
    for (const Term& term : a->terms->list) row_of(table.rows, term.kind).a = term.us;
  }
  std::ranges::stable_sort(table.rows, [&](const TermRow& x, const TermRow& y) {
    if (table.against && std::abs(x.difference()) != std::abs(y.difference()))
      return std::abs(x.difference()) > std::abs(y.difference());
    return x.b > y.b;
  });
  return table;
}

std::vector<TermRow> in_bar_order(std::vector<TermRow> rows) {
  std::ranges::sort(rows, {}, &TermRow::kind);
  return rows;
}

NoTerms why_no_terms(const Observation* seen) {
  if (seen == nullptr) return {"Nothing to explain yet", "After a run, its time stands here term by term."};
  if (!seen->timing)
    return {seen->failure ? "No time: the run failed" : "No time yet",
            "A modelled time splits into terms once the run has ended."};
  const Timing& timing = *seen->timing;
  if (timing.kind != FigureKind::modelled)
    return {"A measured time has no terms",
            "Only a model knows where a time goes: run this config on an emulated device to see its terms."};
  if (timing.terms && !timing.terms->missing.empty()) return {"The model has no terms", timing.terms->missing};
  return {"This time was kept without its terms", "Run it again (F5) to see them."};
}

std::vector<TermPlace> places_of(const Term& term) {
  std::vector<TermPlace> places;
  for (const TermLine& line : term.lines) {
    const std::string place = line.source.empty() ? "no known line" : line.source;
    const auto known = std::ranges::find(places, place, &TermPlace::place);
    if (known != places.end()) {
      known->us += line.us;
      continue;
    }
    TermPlace made{place, "", 0, line.us, line.waiting_source == line.source ? "" : line.waiting_source};
    if (const size_t colon = line.source.rfind(':'); colon != std::string::npos) {
      made.file = line.source.substr(0, colon);
      std::from_chars(line.source.data() + colon + 1, line.source.data() + line.source.size(), made.line);
    }
    places.push_back(std::move(made));
  }
  std::ranges::stable_sort(places, std::greater(), &TermPlace::us);
  return places;
}

std::vector<TermPlace> places_beside(const Term* a, const Term* b) {
  std::vector<TermPlace> places = b != nullptr ? places_of(*b) : std::vector<TermPlace>();
  if (a == nullptr) return places;
  for (TermPlace& theirs : places_of(*a)) {
    auto own = std::ranges::find(places, theirs.place, &TermPlace::place);
    if (own == places.end()) {
      if (places.size() >= Term::kMostLines) continue;
      own = places.insert(places.end(), {theirs.place, theirs.file, theirs.line, 0, theirs.waits});
    }
    own->a = theirs.us;
  }
  return places;
}

const Term* term_of(const Timing& timing, TermKind kind) {
  if (!timing.terms) return nullptr;
  const auto found = std::ranges::find(timing.terms->list, kind, &Term::kind);
  return found != timing.terms->list.end() ? &*found : nullptr;
}

double us_at(const Timing& timing, const std::string& file, int64_t line) {
  if (!timing.terms || line <= 0) return 0;
  const std::string place = file + ":" + std::to_string(line);
  double us = 0;
  for (const Term& term : timing.terms->list)
    for (const TermLine& one : term.lines)
      if (one.source == place) us += one.us;
  return us;
}

std::string times_at(const Timing* a, const Timing& b, const std::string& file, int64_t line) {
  const double of_b = us_at(b, file, line), of_a = a != nullptr ? us_at(*a, file, line) : 0;
  if (of_b <= 0 && of_a <= 0) return {};
  const auto or_dash = [](double us) { return us > 0 ? us_text(us) : std::string("\u2013"); };
  return or_dash(of_b) + (a != nullptr ? "; A " + or_dash(of_a) : "");
}

}  // namespace attnscope::charts
