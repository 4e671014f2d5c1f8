#pragma once
#include <chrono>

namespace attnscope::platform {

// Seconds since the epoch, for history and logs.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Milliseconds on a clock that never jumps and stands still while the machine sleeps.
inline double steady_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace attnscope::platform
