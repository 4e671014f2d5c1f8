#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A finding in the window: what, the figures behind it, where, and what to try.
struct FindingRow {
  Severity severity = Severity::info;
  std::string sentence;
  std::vector<std::string> evidence;  // "bank conflicts 74.7 %, counted"
  std::string gain;                   // "estimated gain 120 µs", "tried: 100 µs less", or empty
  std::string file;
  int64_t line = 0;                     // 0: no line
  std::map<std::string, int64_t> next;  // knobs to set; empty: nothing is proposed
};
// The observation's findings and its watch's, errors first; otherwise in their order.
std::vector<FindingRow> finding_rows(const Observation& seen);

}  // namespace attnscope::charts
