// Presenter mode: a lesson by two keys, hidden figures, the way out; and the command sheet.
#include <imgui_internal.h>

#include <algorithm>
#include <set>

#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using lesson::Progress;
using session::Snapshot;
using testing::HasSubstr;
using testing::Not;

constexpr ShotSize kSizes[] = {{1024, 640}, {1280, 720}, {2560, 1440}};

class PresenterFlow : public WindowFlow {
 protected:
  const Progress& progress() { return *bench_->lesson().progress(); }

  void present(ImGuiTestContext* ctx, const char* lesson) {
    ctx->Yield(12);
    if (lesson != nullptr) {
      ASSERT_TRUE(bench_->open_lesson(lesson));
    }
    ctx->KeyPress(ImGuiKey_F11);
    ctx->Yield(12);
    ASSERT_TRUE(bench_->presents());
  }
  void wait_until_told(ImGuiTestContext* ctx) {
    wait(
        ctx, [&](const Snapshot& s) { return !s.focus.running && progress().may_go_on(); }, "the step is told");
    ctx->Yield(12);
  }
  // Nothing of the step is cut off: its columns need no scrolling.
  static void expect_fits(ImGuiTestContext* ctx) {
    for (const ImGuiWindow* window : ctx->UiContext->Windows) {
      const bool column = window->WasActive && std::string_view(window->Name).starts_with("Presenter/");
      EXPECT_TRUE(!column || window->ScrollMax.y <= 0) << window->Name;
    }
  }
  struct Place {
    std::string title;
    ImVec2 at, size;
    bool in_front;
  };
  // For every docked window.
  static std::vector<Place> layout_of(ImGuiTestContext* ctx) {
    std::vector<Place> places;
    for (ImGuiWindow* window : ctx->UiContext->Windows)
      if (window->DockNode != nullptr && window->WasActive)
        places.push_back({window->Name, window->Pos, window->Size, window->DockTabIsVisible});
    std::ranges::sort(places, {}, &Place::title);
    return places;
  }
  static void expect_same(const std::vector<Place>& before, const std::vector<Place>& after) {
    ASSERT_EQ(before.size(), after.size());
    for (size_t at = 0; at < before.size(); ++at) {
      EXPECT_EQ(before[at].title, after[at].title);
      EXPECT_EQ(before[at].in_front, after[at].in_front) << before[at].title;
      EXPECT_EQ(before[at].at.x, after[at].at.x) << before[at].title;
      EXPECT_EQ(before[at].at.y, after[at].at.y) << before[at].title;
      EXPECT_EQ(before[at].size.x, after[at].size.x) << before[at].title;
      EXPECT_EQ(before[at].size.y, after[at].size.y) << before[at].title;
    }
  }
};

TEST_F(PresenterFlow, ALessonIsLedByTwoKeysAtEverySize) {
  real_worker();
  options_.first_experiment = false;
  const std::string lesson = small_lesson("04_idle_warps");
  for (const ShotSize size : kSizes) {
    SCOPED_TRACE(size.width);
    close();
    open(size);
    flow([&](ImGuiTestContext* ctx) {
      // The panels dock once the session has answered, which takes more frames on a busy machine.
      if (!wait(
              ctx, [&](const Snapshot&) { return !layout_of(ctx).empty(); }, "the layout"))
        return;
      ctx->Yield(12);
      bench_->open_panel("Why");
      ctx->Yield(12);
      const auto before = layout_of(ctx);
      present(ctx, lesson.c_str());
      EXPECT_THAT(drawn_words(ctx), HasSubstr("Four warps"));
      EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("FP32"))) << "no panel is left";
      if (progress().state() == Progress::State::waits) ctx->KeyPress(ImGuiKey_RightArrow);  // it may have run already
      wait_until_told(ctx);
      EXPECT_THAT(drawn_words(ctx), HasSubstr("One warp computes the scores"));
      expect_fits(ctx);
      ctx->KeyPress(ImGuiKey_PageDown);
      ctx->Yield(4);
      EXPECT_EQ(progress().at(), 1u);
      EXPECT_THAT(drawn_words(ctx), HasSubstr("How much faster is it?"));
      EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("times as fast. The phase"))) << "the answer is not given away";
      EXPECT_THAT(drawn_words(ctx), HasSubstr("The answer is shown after yours."));
      ctx->KeyPress(ImGuiKey_RightArrow);  // marks the first answer
      ctx->KeyPress(ImGuiKey_PageDown);    // the second
      ctx->KeyPress(ImGuiKey_PageDown);    // there is no third, and "on" does not pass a question
      ctx->Yield(4);
      EXPECT_EQ(progress().state(), Progress::State::asks);
      ctx->KeyPress(ImGuiKey_LeftArrow);
      ctx->KeyPress(ImGuiKey_RightArrow);
      ctx->KeyPress(ImGuiKey_Enter);
      ctx->Yield(4);
      EXPECT_EQ(progress().chosen(), 1u);
      wait_until_told(ctx);
      EXPECT_THAT(drawn_words(ctx), HasSubstr("As you said: less than 1.5 times as fast"));
      EXPECT_THAT(drawn_words(ctx), HasSubstr("tiled with NUM_WARPS=8"));
      expect_fits(ctx);
      ctx->KeyPress(ImGuiKey_RightArrow);
      ctx->Yield(8);
      EXPECT_EQ(progress().at(), 2u);
      ctx->KeyPress(ImGuiKey_PageUp);
      ctx->Yield(8);
      EXPECT_EQ(progress().at(), 1u);
      EXPECT_THAT(drawn_words(ctx), HasSubstr("As you said")) << "the answer is kept";
      ctx->KeyPress(size.width == 1280 ? ImGuiKey_F11 : ImGuiKey_Escape);
      ctx->Yield(12);
      EXPECT_FALSE(bench_->presents());
      expect_same(before, layout_of(ctx));
    });
  }
}

TEST_F(PresenterFlow, AGoalIsReachedByKnobsOnTheStage) {
  real_worker();
  options_.first_experiment = false;
  const std::string lesson = small_lesson("03_the_same_code");
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    present(ctx, lesson.c_str());
    for (int at = 0; at < 2; ++at) {
      // A slow frame may lose a key.
      for (int press = 0; press < 3 && progress().state() == Progress::State::asks; ++press) {
        ctx->KeyPress(ImGuiKey_3);
        ctx->Yield(4);
      }
      if (progress().state() == Progress::State::waits) ctx->KeyPress(ImGuiKey_RightArrow);
      wait_until_told(ctx);
      ctx->KeyPress(ImGuiKey_RightArrow);
      ctx->Yield(6);
    }
    ctx->KeyPress(ImGuiKey_RightArrow);
    if (!wait_for_run(ctx, "VEC_WIDTH", 4)) return;
    wait_until_told(ctx);
    EXPECT_EQ(progress().state(), Progress::State::practises);
    expect_fits(ctx);
    const auto place = bench_->rail_of("VEC_WIDTH");
    ASSERT_TRUE(place);
    ctx->ItemClick("//Presenter/**/VEC_WIDTH/1");
    if (!wait_for_run(ctx, "VEC_WIDTH", 1)) return;
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Reached."));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("now")) << "the learner's own run";
    ctx->KeyPress(ImGuiKey_LeftArrow);  // not a step of the knob that was clicked
    ctx->Yield(4);
    EXPECT_EQ(progress().at(), 1u);
    EXPECT_EQ(now()->focus.wanted.config.knobs.at("VEC_WIDTH"), 1);
  });
}

TEST_F(PresenterFlow, WithoutALessonItShowsTheRunAndLeadsThroughTheHistory) {
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    const auto before = layout_of(ctx);
    present(ctx, nullptr);
    EXPECT_EQ(theme_mode(), ThemeMode::black);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    if (!wait(
            ctx, [](const Snapshot& s) { return s.selected && s.selected->id == 1; }, "the run before"))
      return;
    ctx->KeyPress(ImGuiKey_LeftArrow);  // there is none before it
    ctx->KeyPress(ImGuiKey_PageDown);
    if (!wait(
            ctx, [](const Snapshot& s) { return !s.selected; }, "the live run"))
      return;
    ctx->ItemClick("//Presenter/**/NUM_WARPS/4");
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->KeyPress(ImGuiKey_F11);
    ctx->Yield(12);
    EXPECT_EQ(theme_mode(), ThemeMode::dark);
    expect_same(before, layout_of(ctx));
  });
}

TEST_F(PresenterFlow, OutsideOfItTheKeysAreTheControls) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ASSERT_TRUE(bench_->open_lesson("04_idle_warps"));
    ctx->ItemClick("//Experiment/NUM_WARPS/6");
    if (!wait_for_run(ctx, "NUM_WARPS", 6)) return;
    ctx->KeyPress(ImGuiKey_RightArrow);  // steps the knob that was clicked
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->KeyPress(ImGuiKey_PageDown);
    ctx->Yield(4);
    EXPECT_EQ(progress().at(), 0u);
  });
}

TEST_F(PresenterFlow, TheCommandSheetHasEveryKeyAndRunsACommand) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    ctx->Yield(12);
    ctx->KeyPress(ImGuiKey_F1);
    ctx->Yield(4);
    const std::string words = drawn_words(ctx);
    std::set<ImGuiKeyChord> chords;
    for (const Action& action : bench_->actions().all()) {
      EXPECT_NE(action.group, "") << action.id;
      EXPECT_THAT(words, HasSubstr(action.keys_text()));
      EXPECT_TRUE(action.chord == 0 || chords.insert(action.chord).second) << action.id << " shares its key";
      for (const ImGuiKeyChord other : action.others) EXPECT_TRUE(chords.insert(other).second) << action.id;
    }
    ctx->ItemClick("//Commands/**/theme/###command");
    ctx->Yield(4);
    EXPECT_EQ(bench_->settings().theme, ThemeMode::light);
    EXPECT_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_T);
    ctx->Yield(2);
    EXPECT_EQ(theme_mode(), ThemeMode::white);
  });
}

}  // namespace
}  // namespace attnscope::ui
