#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/scan.h"

namespace attnscope::charts {

// How much a cure saves of a run of `us`; `time` formats times: "estimated 120 us less (1.20 times); tried: 1.14
// times". `us` 0: unknown. A cure that costs time gives "tried: slower".
std::string gain_text(const Gain& gain, double us, std::string (*time)(double));

// The result of a config that was run beside another one.
struct Tried {
  std::string words;  // "tried: 1.23 times", "tried: slower"
  std::string why;    // details; may be empty
  int better = 0;     // +1: faster; -1: slower, or no usable result; 0: neither
};
Tried tried_text(const Observation& base, const Observation& run);
// The result of a scan of one config, compared with the observation of its held experiment; empty if it has not ended.
Tried tried_text(const Observation& base, const Scan& scan, size_t point);

// A finding in the window: what it is, the figures behind it, where it is, and what to try.
struct FindingRow {
  Severity severity = Severity::info;
  std::string sentence;
  std::vector<std::string> evidence;  // "bank conflicts 74.7 %, counted"
  std::string gain;                   // gain_text(), or empty
  std::string file;
  int64_t line = 0;                     // 0: no line
  std::map<std::string, int64_t> next;  // knobs to set; empty: no proposal
};
// The findings of the observation and of its watch: errors first, otherwise in their order.
std::vector<FindingRow> finding_rows(const Observation& seen);

}  // namespace attnscope::charts
