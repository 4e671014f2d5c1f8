#pragma once
#include <array>
#include <cstdint>

namespace attnscope::ui {

enum class Ramp {
  rising,     // dark to light, for sizes of errors
  diverging,  // dark blue, pale middle, dark orange: for signed values
};

// 256 colours, RGBA. The rising ramp's lightness grows in equal steps (Oklab; Björn Ottosson, "A perceptual color space
// for image processing", 2020), so that it reads the same in grey and with every common colour-vision deficiency.
const std::array<uint8_t, 256 * 4>& colour_ramp(Ramp ramp);

}  // namespace attnscope::ui
