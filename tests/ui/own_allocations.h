#pragma once
#include <cstdint>

namespace attnscope::ui {

// Calls of operator new and delete by this thread since it began: what it builds and drops, whatever the machine's
// speed. Always 0 under a sanitizer, which has operators of its own.
int64_t own_allocations();

}  // namespace attnscope::ui
