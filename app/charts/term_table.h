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
  std::vector<TermRow> rows;  // every term that A or B has; see below for the order
  double a = 0, b = 0;        // the whole times, us; a is 0 without A
  bool against = false;       // there is an A with terms
};

// Terms of B, largest first; against A's, the largest difference first. `a` may be null, and an A without terms counts
// as none. `b` has terms.
TermTable term_table(const Timing* a, const Timing& b);

// The rows in the order of the terms' list, which is the same for every run, so that two bars can be read against each
// other.
std::vector<TermRow> in_bar_order(std::vector<TermRow> rows);

bool has_terms(const Timing& timing);

// Why an observation shows no terms, and what would give them.
struct NoTerms {
  std::string headline, words;
};
NoTerms why_no_terms(const Observation* seen);

// Where a term's time is spent: an instruction's line in the source.
struct TermPlace {
  std::string place;  // "02_tiled.cu:174"
  std::string file;   // "02_tiled.cu"
  int64_t line = 0;   // 0: unknown
  double us = 0;
  std::string waits;  // "02_tiled.cu:180" waits for it; empty: nothing does
};
// One entry for each line, longest first; instructions without a line are one entry, "no known line".
std::vector<TermPlace> places_of(const Term& term);

}  // namespace attnscope::charts
