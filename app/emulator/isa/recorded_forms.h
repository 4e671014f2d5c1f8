#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace attnscope::emulator {

// A form that a recorded kernel holds (tests/gpu/opcodes): its results on an H200 are known at edge values, and a test
// holds the emulator to them. Bits of `archs`: 1 sm_80, 2 sm_89, 4 sm_90, in whose code it appears; the recording
// itself is sm_90's, and older code of the same source must give the same words.
struct RecordedForm {
  std::string_view spelling;
  uint8_t archs;
};
std::span<const RecordedForm> recorded_forms();  // by spelling, ascending
// 0: not recorded.
uint8_t recorded_on(std::string_view spelling);

}  // namespace attnscope::emulator
