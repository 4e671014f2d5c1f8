#pragma once
#include "core/kernel.h"

namespace attnscope::cli {

// The kernel of a handwritten Listing whose first file is made_up.cu.
inline Kernel made_up_kernel() {
  Kernel made;
  made.id = "made_up";
  made.source_name = "made_up.cu";
  return made;
}

}  // namespace attnscope::cli
