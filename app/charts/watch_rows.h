#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A finding of a watch in one line, what and where; `sentence` has the full text.
struct WatchRow {
  std::string headline;  // "Race in S_tile: 02_tiled.cu:203, 218"
  std::string sentence;
  bool error = false;
  std::string file;  // where it was seen; empty if not in the source
  int64_t line = 0;
};

// Errors first; findings of one severity in the watch's order.
std::vector<WatchRow> watch_rows(const WatchReport& report);
// How much was checked: "8 of 128 CTAs, 3 contents of shared memory, 8 orders of the warps".
std::string watch_share_text(const WatchReport& report);

}  // namespace attnscope::charts
