// The Experiment panel: kernels that the device does not run, and a config that cannot run.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ui/drawing.h"
#include "ui/still_session.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;

class ExperimentFlow : public StillWindow {
 protected:
  // The shapes in the panel that are filled as a chosen row is.
  static std::vector<std::string> marked() {
    const ImVec4 chosen = ImGui::GetStyleColorVec4(ImGuiCol_Header);
    const auto byte = [](float share) { return static_cast<int>(share * 255 + 0.5f); };
    const std::string colour = fmt::format("#{:02x}{:02x}{:02x} ", byte(chosen.x), byte(chosen.y), byte(chosen.z));
    std::vector<std::string> found;
    for (const auto& [part, lines] : last_frame())
      if (part.starts_with("Experiment"))
        std::ranges::copy_if(lines, std::back_inserter(found),
                             [&](const std::string& line) { return line.starts_with(colour); });
    return found;
  }
};

TEST_F(ExperimentFlow, KernelsThatTheDeviceDoesNotRunAreBehindALine) {
  session::Snapshot snapshot = snapshot_after({"m32_w4"});
  std::vector<Kernel> kernels = *snapshot.kernels;
  kernels.push_back(kernels.back());
  kernels.back().id = "routine";
  kernels.back().library = Library::named("cuBLAS");
  snapshot.kernels = session::share(std::move(kernels));
  open_still<StillSession>(std::move(snapshot), {1600, 900}, "History");
  flow([&](ImGuiTestContext* ctx) {
    EXPECT_THAT(drawn_words(ctx), HasSubstr("1 more, not for emulated:l4"));
    EXPECT_FALSE(ctx->ItemExists("//Experiment/routine/##rung"));
    ctx->MouseTeleportToPos({800, 895});
    ctx->Yield(6);
  });
  const std::vector<std::string> before = marked();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(std::ranges::count(before.front(), ','), 1) << "only the chosen kernel is marked: " << before.front();
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Experiment/###others");
    ctx->Yield(4);
    EXPECT_TRUE(ctx->ItemExists("//Experiment/routine/##rung"));
    ctx->ItemClick("//Experiment/###others");
    ctx->Yield(4);
    EXPECT_FALSE(ctx->ItemExists("//Experiment/routine/##rung"));
  });
}

// No single knob is the cause, so that the reason begins with none.
TEST_F(ExperimentFlow, WhyAConfigCannotRunIsSaidWithoutAKnob) {
  open_still<StillSession>(snapshot_after({"m64_w4"}), {1600, 900}, "History");
  const std::string notes = bench_->pressing_notes();
  EXPECT_THAT(notes, HasSubstr("|asks 57,376 B of static shared memory"));
}

}  // namespace
}  // namespace attnscope::ui
