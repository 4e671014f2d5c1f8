// What is drawn, read back as pixels.
#include <cmath>
#include <limits>
#include <set>

#include "ui/display/map_painter.h"
#include "ui/window_flow.h"

#include <glad/glad.h>

namespace attnscope::ui {
namespace {

using Pixel = std::array<uint8_t, 4>;

std::vector<Pixel> read_back(uint32_t texture, int width, int height) {
  std::vector<Pixel> pixels(static_cast<size_t>(width) * static_cast<size_t>(height));
  glBindTexture(GL_TEXTURE_2D, texture);
  glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  return pixels;
}

Pixel ramp_at(Ramp ramp, int index) {
  const auto& colours = colour_ramp(ramp);
  const size_t at = static_cast<size_t>(index) * 4;
  return {colours[at], colours[at + 1], colours[at + 2], colours[at + 3]};
}

TEST(ColourRamp, LightnessRises) {
  double before = -1;
  for (int at = 0; at < 256; at += 15) {
    const Pixel c = ramp_at(Ramp::rising, at);
    const double luminance = 0.2126 * std::pow(c[0] / 255.0, 2.2) + 0.7152 * std::pow(c[1] / 255.0, 2.2) +
                             0.0722 * std::pow(c[2] / 255.0, 2.2);
    EXPECT_GT(luminance, before) << "at " << at;
    before = luminance;
  }
}

TEST(MapPainter, EveryKindOfValueHasItsOwnLook) {
  auto screen = Offscreen::create({320, 240}, ATTNSCOPE_SOURCE_DIR);
  ASSERT_TRUE(screen) << screen.error().message;
  auto painter = MapPainter::create(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "shaders");
  ASSERT_TRUE(painter) << painter.error().message;
  Tile tile;
  tile.width = 4;
  tile.height = 2;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  tile.values = {0.0f, 1e-6f, 1e-2f, 5.0f, nan, -nan, inf, -1.0f};
  tile.ready_rows = {1, 1};
  MapLook look;
  look.nan = IM_COL32(255, 0, 255, 255);
  look.inf = IM_COL32(255, 255, 255, 255);
  look.not_yet = IM_COL32(40, 40, 40, 255);
  constexpr int kScale = 12;
  const uint32_t texture = (*painter)->paint(tile, 1, look, 4 * kScale, 2 * kScale);
  const auto pixels = read_back(texture, 4 * kScale, 2 * kScale);
  const auto cell = [&](int x, int y) {
    std::set<Pixel> colours;
    for (int dy = 0; dy < kScale; ++dy)
      for (int dx = 0; dx < kScale; ++dx)
        colours.insert(pixels[static_cast<size_t>((y * kScale + dy) * 4 * kScale + x * kScale + dx)]);
    return colours;
  };
  EXPECT_EQ(cell(0, 0), std::set<Pixel>{ramp_at(Ramp::rising, 0)});  // zero and less than the ramp's start
  EXPECT_EQ(cell(1, 0), std::set<Pixel>{ramp_at(Ramp::rising, 0)});
  EXPECT_EQ(cell(2, 0), std::set<Pixel>{ramp_at(Ramp::rising, 255)});  // the ramp's end and beyond
  EXPECT_EQ(cell(3, 0), std::set<Pixel>{ramp_at(Ramp::rising, 255)});
  const std::set<Pixel> checked = cell(0, 1);
  EXPECT_EQ(checked.size(), 2u);  // NaN: a check pattern of two shades
  EXPECT_TRUE(checked.contains(Pixel{255, 0, 255, 255}));
  EXPECT_EQ(cell(1, 1), checked);  // whatever its sign
  const std::set<Pixel> striped = cell(2, 1);
  EXPECT_EQ(striped, (std::set<Pixel>{{255, 0, 255, 255}, {255, 255, 255, 255}}));  // Inf: stripes
  tile.ready_rows = {1, 0};
  const auto again = read_back((*painter)->paint(tile, 2, look, 4 * kScale, 2 * kScale), 4 * kScale, 2 * kScale);
  EXPECT_EQ(again[0], ramp_at(Ramp::rising, 0));
  std::set<Pixel> waiting(again.begin() + 4 * kScale * kScale, again.end());
  EXPECT_EQ(waiting, (std::set<Pixel>{{40, 40, 40, 255}, {54, 54, 54, 255}}));  // a row to come shows no value
}

class Picture : public WindowFlow {};

TEST_F(Picture, IsOfExactlyTheSizeAskedAndShowsTheWindow) {
  auto session = session::Session::start(options_, [] {});
  ASSERT_TRUE(session) << session.error().message;
  ShotOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  const std::filesystem::path file = dir_ / "window.png";
  const Result<void> done = shot(**session, file, {1280, 720}, options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE((*session)->snapshot()->focus.shown, nullptr);
  (*session)->stop();
  const std::string png = testing_support::read_text(file);
  ASSERT_GT(png.size(), 20000u);  // a window of one colour takes a few KB
  EXPECT_EQ(png.substr(0, 4), "\x89PNG");
  const auto big_endian = [&](size_t at) {
    uint32_t value = 0;
    for (size_t byte = 0; byte < 4; ++byte) value = value << 8 | static_cast<uint8_t>(png[at + byte]);
    return value;
  };
  EXPECT_EQ(big_endian(16), 1280u);
  EXPECT_EQ(big_endian(20), 720u);
}

TEST_F(Picture, AFileThatCannotBeWrittenIsNamed) {
  auto session = session::Session::start(options_, [] {});
  ASSERT_TRUE(session) << session.error().message;
  ShotOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  const Result<void> done = shot(**session, dir_.write("a file", "x") / "window.png", {640, 480}, options);
  (*session)->stop();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::store);
  EXPECT_NE(done.error().message.find("window.png"), std::string::npos);
}

TEST_F(Picture, ASizeThatCannotBeIsRefused) {
  const auto screen = Offscreen::create({10, 10}, ATTNSCOPE_SOURCE_DIR);
  ASSERT_FALSE(screen);
  EXPECT_EQ(screen.error().stage, Stage::input);
}

}  // namespace
}  // namespace attnscope::ui
