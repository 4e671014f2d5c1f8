#include "ui/panel_picture.h"

#include <gtest/gtest.h>

namespace attnscope::ui {
namespace {

TEST(PanelPicture, APartIsCutOutRowByRow) {
  std::vector<uint8_t> rgb;
  for (uint8_t at = 0; at < 4 * 3; ++at) rgb.insert(rgb.end(), {at, at, at});
  const std::vector<uint8_t> part = cropped(rgb, {4, 3}, {1, 1, 2, 2});
  EXPECT_EQ(part, (std::vector<uint8_t>{5, 5, 5, 6, 6, 6, 9, 9, 9, 10, 10, 10}));
}

}  // namespace
}  // namespace attnscope::ui
