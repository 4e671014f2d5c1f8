#include "ui/display/colour_ramp.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace attnscope::ui {
namespace {

struct Lab {
  double lightness, a, b;
};

// Oklab to linear sRGB, then the sRGB curve; the matrices are the published ones.
std::array<uint8_t, 3> to_srgb(const Lab& c) {
  const double l = std::pow(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  const double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  std::array<uint8_t, 3> out{};
  for (size_t i = 0; i < 3; ++i) {
    const double x = std::clamp(linear[i], 0.0, 1.0);
    const double curved = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
    out[i] = static_cast<uint8_t>(std::lround(curved * 255));
  }
  return out;
}

std::array<uint8_t, 256 * 4> through(std::span<const Lab> stops) {
  std::array<uint8_t, 256 * 4> ramp{};
  for (size_t i = 0; i < 256; ++i) {
    const double place = static_cast<double>(i) / 255 * static_cast<double>(stops.size() - 1);
    const size_t first = std::min(static_cast<size_t>(place), stops.size() - 2);
    const double share = place - static_cast<double>(first);
    const Lab &from = stops[first], &to = stops[first + 1];
    const auto rgb = to_srgb({from.lightness + (to.lightness - from.lightness) * share,
                              from.a + (to.a - from.a) * share, from.b + (to.b - from.b) * share});
    std::copy(rgb.begin(), rgb.end(), ramp.begin() + static_cast<std::ptrdiff_t>(i * 4));
    ramp[i * 4 + 3] = 255;
  }
  return ramp;
}

}  // namespace

const std::array<uint8_t, 256 * 4>& colour_ramp(Ramp ramp) {
  // Lightness in equal steps; hue from deep blue over teal and green to a pale yellow.
  static constexpr Lab kRising[] = {{0.17, 0.005, -0.055}, {0.33, -0.015, -0.095}, {0.49, -0.065, -0.045},
                                    {0.65, -0.100, 0.035}, {0.81, -0.050, 0.130},  {0.97, 0.000, 0.075}};
  static constexpr Lab kDiverging[] = {
      {0.32, -0.02, -0.13}, {0.62, -0.04, -0.09}, {0.95, 0.0, 0.005}, {0.66, 0.08, 0.10}, {0.36, 0.09, 0.07}};
  static const auto rising = through(kRising);
  static const auto diverging = through(kDiverging);
  return ramp == Ramp::rising ? rising : diverging;
}

}  // namespace attnscope::ui
