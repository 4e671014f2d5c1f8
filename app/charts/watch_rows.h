#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A finding of a watch on one line, what and where; `sentence` has the full text.
struct WatchRow {
  std::string headline;  // "Race in S_tile: 02_tiled.cu:203, 218"
  std::string sentence;
  bool error = false;
  std::string file;  // where it was seen; empty if that is not in the source
  int64_t line = 0;
  const Finding* finding = nullptr;  // of the report
};

// Errors first; findings of equal severity keep the watch's order.
std::vector<WatchRow> watch_rows(const WatchReport& report);
// How much was watched: "8 of 128 CTAs, 3 contents of shared memory, 8 orders of the warps".
std::string watch_share_text(const WatchReport& report);

}  // namespace attnscope::charts
