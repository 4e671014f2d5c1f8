#pragma once
#include <string_view>

#include "core/result.h"

namespace attnscope::emulator {

// How the message of a deadlock goes on after the kernel's name.
inline constexpr std::string_view kDeadlocks = " deadlocks in ";

// Stage::deadline is also the stage of a kernel that does not end.
inline bool is_deadlock(const Failure& failure) {
  return failure.stage == Stage::deadline && failure.message.find(kDeadlocks) != std::string::npos;
}

}  // namespace attnscope::emulator
