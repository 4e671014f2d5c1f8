#pragma once
#include <cstdint>
#include <vector>

#include "core/sampled_line.h"

namespace attnscope::device {

// An instruction in which warps were sampled.
struct SampledInstruction : SampledPlace {
  int64_t launch = 0;  // of a program, among its launches
  int64_t at = 0;      // its number in the launch's machine code
  bool operator==(const SampledInstruction&) const = default;
};

// Where the warps of a run's launches were, as the GPU sampled them at even distances in time: at which instruction,
// and for what they waited. Every warp counts, also one whose wait others hide.
struct PcSamples {
  int64_t period = 0;                              // clocks of an SM from one sample to the next
  int64_t launches = 0;                            // how often the run was launched for them
  int64_t samples = 0;                             // of the run's own code
  int64_t elsewhere = 0;                           // of other code
  int64_t dropped = 0;                             // that the GPU took and had no room for
  std::vector<SampledInstruction> instructions{};  // by launch and number
  bool operator==(const PcSamples&) const = default;
};

}  // namespace attnscope::device
