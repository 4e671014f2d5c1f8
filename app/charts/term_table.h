#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A term of B's modelled time beside A's, us.
struct TermRow {
  TermKind kind = TermKind::other;
  double a = 0, b = 0;
  double difference() const { return b - a; }
  bool operator==(const TermRow&) const = default;
};

struct TermTable {
  std::vector<TermRow> rows;  // every term of A or B; term_table() gives the order
  double a = 0, b = 0;        // the total times, us; a is 0 without A
  bool against = false;       // there is an A with terms
};

// Terms of B, largest first; with A, the largest difference first. `a` may be null; an A without terms counts as none.
// `b` must have terms.
TermTable term_table(const Timing* a, const Timing& b);

// The rows in the order of the TermKind enumeration, which is the same for every run, so that two bars can be compared.
std::vector<TermRow> in_bar_order(std::vector<TermRow> rows);

bool has_terms(const Timing& timing);

// Why an observation shows no terms, and what would provide them.
struct NoTerms {
  std::string headline, words;
};
NoTerms why_no_terms(const Observation* seen);

// Where a term's time is spent: the source line of an instruction.
struct TermPlace {
  std::string place;  // "02_tiled.cu:174"
  std::string file;   // "02_tiled.cu"
  int64_t line = 0;   // 0: unknown
  double us = 0;
  std::string waits;          // "02_tiled.cu:180" waits for it; empty: no line waits
  std::optional<double> a{};  // A's time there; empty: A's term does not list the place
};
// One entry for each line, longest first. Instructions without a line share one entry, "no known line".
std::vector<TermPlace> places_of(const Term& term);
// The places of B's term with A's times, then, while there are fewer than a term lists, those that only A's lists
// (`us` 0). Null: that run does not have the term.
std::vector<TermPlace> places_beside(const Term* a, const Term* b);

const Term* term_of(const Timing& timing, TermKind kind);  // null: the time has no such term
// The modelled time that a line of the source carries, as far as the terms list it, us; 0: none lists it.
double us_at(const Timing& timing, const std::string& file, int64_t line);
// "12.0 us; A 20.0 us", with a dash for a time that no term lists; empty if there is none. `a` null: only B's.
std::string times_at(const Timing* a, const Timing& b, const std::string& file, int64_t line);

}  // namespace attnscope::charts
