#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A finding of a watch in one line: what and where; the whole of it in `sentence`.
struct WatchRow {
  std::string headline;  // "Race in S_tile: 02_tiled.cu:203, 218"
  std::string sentence;
  bool error = false;
  std::string file;  // where it was seen; empty: nowhere in the source
  int64_t line = 0;
};

// Errors first; those of one severity as the watch has them.
std::vector<WatchRow> watch_rows(const WatchReport& report);
// How much was looked at: "8 of 128 CTAs, 3 contents of shared memory, 8 orders of the warps".
std::string watch_share_text(const WatchReport& report);

}  // namespace attnscope::charts
