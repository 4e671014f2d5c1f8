// Maps that stay on the GPU hold the same values as maps through the pipe. Needs an NVIDIA GPU that also runs OpenGL;
// an X server such as Xvfb with NVIDIA's GLX is enough.
#include <algorithm>
#include <cstring>

#include "cuda_api/driver.h"
#include "ui/widgets/map_view.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Snapshot;

class Pixels : public WindowFlow {
 protected:
  void SetUp() override {
    const auto driver = cuda_api::Driver::open();
    if (!driver) GTEST_SKIP() << driver.error().message;
    const auto gpus = driver->gpus();
    if (!gpus || gpus->empty()) GTEST_SKIP() << "the driver shows no GPU";
    if (const auto screen = Offscreen::create({640, 480}, ATTNSCOPE_SOURCE_DIR); !screen)
      GTEST_SKIP() << screen.error().message;
  }
  // The map through the pipe, one texel per element.
  std::vector<float> by_pipe(ImGuiTestContext* ctx, MapKind map, int width, int height) {
    ViewRequest request;
    request.experiment_hash = now()->focus.wanted_hash;
    request.map = map;
    request.width = width;
    request.height = height;
    session_->request_view(request);
    const std::string key = session::tile_key(request);
    if (!wait(
            ctx, [&](const Snapshot& s) { return s.tiles.contains(key); }, "the map by the pipe"))
      return {};
    return now()->tiles.at(key)->values;
  }
};

TEST_F(Pixels, BothWaysGiveTheSameBits) {
  real_worker();
  open();
  for (const auto& [map, panel, width] :
       {std::tuple{MapKind::attention, "Attention", 512}, {MapKind::error, "Error", 64}}) {
    MapView& shown = bench_->map_of(map);
    std::vector<float> pipe;
    flow([&](ImGuiTestContext* ctx) {
      if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
      bench_->open_panel(panel);
      const auto decided = [&](const Snapshot&) {
        const bool refused =
            bench_->pixels().why.find("drawn by") != std::string::npos && bench_->pixels().way == "pipe";
        return (shown.tile() != nullptr && shown.tile()->in_target) || (refused && shown.tile() != nullptr);
      };
      if (wait(ctx, decided, "the map")) pipe = by_pipe(ctx, map, width, 512);
    });
    ASSERT_NE(shown.tile(), nullptr);
    if (!shown.tile()->in_target) GTEST_SKIP() << bench_->pixels().why;
    const std::vector<float> gpu = shown.values();  // here, on OpenGL's thread: a flow's steps run on another
    ASSERT_EQ(gpu.size(), static_cast<size_t>(width) * 512);
    ASSERT_EQ(pipe.size(), gpu.size());
    EXPECT_EQ(std::memcmp(gpu.data(), pipe.data(), gpu.size() * sizeof(float)), 0) << panel;
    EXPECT_GT(*std::max_element(gpu.begin(), gpu.end()), 0) << panel;
  }
  EXPECT_EQ(bench_->pixels().way, "GPU");
}

}  // namespace
}  // namespace attnscope::ui
