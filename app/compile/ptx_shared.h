#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope::compile {

// A static shared-memory buffer as declared in the PTX.
struct SharedPlacement {
  std::string name;    // as written in the source: "Q_tile"
  std::string symbol;  // in the PTX: "_ZZ15attention_tiledE6Q_tile"
  int64_t offset = 0;  // bytes from the start of the kernel's shared memory (if `placed`)
  int64_t bytes = 0;
};

struct SharedLayout {
  std::vector<SharedPlacement> buffers;  // in the order of placement
  int64_t bytes = 0;                     // from the start to the first possible offset of dynamic shared memory
  bool placed = true;                    // false: the order is unknown (two called functions declare buffers)
};

// The buffers that kernel `entry` and the functions it calls declare, placed as ptxas places them: first the kernel's,
// in the order of declaration with natural alignment, then the called functions' (observed: the sum equals ptxas'
// figure for every kernel tried). Declarations that no instruction names take no space. `extern` buffers are dynamic:
// they take none either, but their alignment rounds the static part up.
SharedLayout shared_layout(const std::string& ptx, const std::string& entry);

}  // namespace attnscope::compile
