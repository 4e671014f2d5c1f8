#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace attnscope::emulator {

// A form found in a recorded kernel (tests/gpu/opcodes): its results on an H200 are known at edge values, and a test
// compares the emulator with them. The bits of `archs` say whose code contains it: 1 sm_80, 2 sm_89, 4 sm_90. The
// recording is sm_90's; older code of the same source must give the same words.
struct RecordedForm {
  std::string_view spelling;
  uint8_t archs;
};
std::span<const RecordedForm> recorded_forms();  // by spelling, ascending
// The `archs` of a recorded form; 0: not recorded.
uint8_t recorded_on(std::string_view spelling);

}  // namespace attnscope::emulator
