#pragma once
#include <cstdint>
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
  std::string waits;  // "02_tiled.cu:180" waits for it; empty: no line waits
};
// One entry for each line, longest first. Instructions without a line share one entry, "no known line".
std::vector<TermPlace> places_of(const Term& term);

}  // namespace attnscope::charts
