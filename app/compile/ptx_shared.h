#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope::compile {

// A static shared-memory buffer as the PTX declares it.
struct SharedPlacement {
  std::string name;    // as written in the source: "Q_tile"
  std::string symbol;  // PTX's: "_ZZ15attention_tiledE6Q_tile"
  int64_t offset = 0;  // bytes from the start of the kernel's shared memory (where `placed`)
  int64_t bytes = 0;
};

struct SharedLayout {
  std::vector<SharedPlacement> buffers;  // in the order of placement
  int64_t bytes = 0;                     // to the last buffer's end, and on to where dynamic shared memory may start
  bool placed = true;  // false: the order is not known (two called functions declare buffers of their own)
};

// The buffers that kernel `entry` and the functions it calls declare, placed as ptxas places them: the kernel's first,
// in the order of declaration with natural alignment, then the called functions' (observed: the sum equals ptxas'
// figure on every kernel tried). Declarations that no instruction names take no place. `extern` ones are dynamic: they
// take none either, but their alignment rounds the static part up.
SharedLayout shared_layout(const std::string& ptx, const std::string& entry);

}  // namespace attnscope::compile
