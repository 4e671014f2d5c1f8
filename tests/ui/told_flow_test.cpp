// What the window says about a run, in text and in every panel.
#include <sstream>

#include "ui/icons.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Snapshot;

class Told : public WindowFlow {
 protected:
  // Whether one drawn line contains all of these, in this order.
  static bool has_line(const std::string& words, const std::vector<std::string>& parts) {
    std::istringstream lines(words);
    for (std::string line; std::getline(lines, line);) {
      size_t at = 0;
      for (const std::string& part : parts)
        if (at != std::string::npos && (at = line.find(part, at)) != std::string::npos) at += part.size();
      if (at != std::string::npos) return true;
    }
    return false;
  }
  // Whether one drawn line is exactly this.
  static bool is_line(const std::string& words, const std::string& whole) {
    std::istringstream lines(words);
    for (std::string line; std::getline(lines, line);) {
      const size_t first = line.find_first_not_of(' ');
      if (first != std::string::npos && line.substr(first) == whole) return true;
    }
    return false;
  }
};

// The message appears once, with the remedy: in the readout of the failure's stage, or in the notes if there is none.
TEST_F(Told, WhatCannotRunIsReportedOnce) {
  using testing::HasSubstr;
  using testing::Not;
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    const auto refused = [&](Stage stage) {
      return wait(
          ctx, [&](const Snapshot& s) { return s.focus.failure && s.focus.failure->stage == stage; }, "the refusal");
    };
    ctx->ItemInputValue("//Experiment/batch/##size", 70000);
    if (!refused(Stage::input)) return;
    EXPECT_THAT(bench_->pressing_notes(), HasSubstr("batch: 70000 is outside"));
    EXPECT_THAT(bench_->pressing_notes(), Not(HasSubstr("a grid of")));
    EXPECT_EQ(now()->focus.failure->hint, "Set batch to 65535 or less.");
    bench_->drop(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "presets/report_m64_w4_v4.json");
    if (!refused(Stage::limits)) return;
    EXPECT_THAT(now()->focus.failure->message, HasSubstr("57,376"));
    EXPECT_THAT(bench_->pressing_notes(), HasSubstr("Does not fit"));
    EXPECT_THAT(bench_->pressing_notes(), Not(HasSubstr("57,376")));
    EXPECT_TRUE(ctx->ItemExists("//Experiment/##illegal/###remedy"));
  });
}

// The watch's headline replaces the verdict: in the headline, in the history's row and in a comparison.
TEST_F(Told, WhatTheWatchFoundIsTheHeadlineInEveryPanel) {
  options_.watch_configs = true;
  fake_worker({"--race", "NUM_WARPS=8", "--luck", "NUM_WARPS=2", "--uneven", "NUM_WARPS=6"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    std::string before = "correct";
    for (const auto& [warps, word] : {std::pair{8, "race"}, {2, "right by luck"}, {6, "uneven barrier"}}) {
      const std::string value = std::to_string(warps), marked = std::string(ICON_WARNING " ") + word;
      ctx->ItemClick(("//Experiment/NUM_WARPS/" + value).c_str());
      if (!wait_for_run(ctx, "NUM_WARPS", warps)) return;
      if (!wait(
              ctx, [](const Snapshot& s) { return s.focus.shown->watch && s.focus.shown->watch->has_errors(); }, word))
        return;
      std::string words = drawn_words(ctx);
      EXPECT_TRUE(is_line(words, marked)) << "the headline\n" << words;
      EXPECT_TRUE(has_line(words, {"NUM_WARPS=" + value, marked})) << "the history's row\n" << words;
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
      ctx->Yield(4);
      words = drawn_words(ctx);
      EXPECT_TRUE(has_line(words, {"verdict", before, word})) << "the comparison\n" << words;
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->Yield(2);
      before = word;
    }
  });
}

}  // namespace
}  // namespace attnscope::ui
