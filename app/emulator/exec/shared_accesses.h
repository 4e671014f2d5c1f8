#pragma once
#include <optional>

#include "core/shared_access.h"
#include "emulator/exec/warp.h"

namespace attnscope::emulator {

// None: the pattern is of global memory, or of no access.
std::optional<SharedAccess> shared_access_of(const Pattern& pattern);

}  // namespace attnscope::emulator
