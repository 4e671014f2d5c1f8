// Lessons in the window: predict, run, read the explanation, reach a goal.
#include <imgui_internal.h>

#include <nlohmann/json.hpp>

#include "ui/icons.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class LessonFlow : public WindowFlow {
 protected:
  void open_lesson(ImGuiTestContext* ctx, const char* id) {
    ctx->Yield(12);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
    ctx->Yield(8);
    ctx->ItemClick((std::string("//Lessons/") + id + "/##open").c_str());
    wait(
        ctx, [&](const session::Snapshot&) { return ctx->ItemExists("//Lessons/Next"); }, "the lesson");
    ctx->Yield(4);
  }
  // Next can be pressed, so the step is explained.
  static bool told(ImGuiTestContext* ctx) {
    return (ctx->ItemInfo("//Lessons/Next").ItemFlags & ImGuiItemFlags_Disabled) == 0;
  }
  void wait_until_told(ImGuiTestContext* ctx) {
    EXPECT_TRUE(wait(
        ctx, [&](const session::Snapshot& s) { return !s.focus.running && told(ctx); }, "the step is told"));
  }
};

TEST_F(LessonFlow, PredictRunBeToldAndReachTheGoal) {
  real_worker();
  options_.first_experiment = false;
  const std::string lesson = small_lesson("03_the_same_code");
  open({2560, 1440});  // every knob is visible
  flow([&](ImGuiTestContext* ctx) {
    open_lesson(ctx, lesson.c_str());
    EXPECT_THAT(drawn_words(ctx), HasSubstr("step 1 of 3"));
    ctx->ItemClick("//Lessons/**/###run");
    wait_until_told(ctx);
    ctx->ItemClick("//Lessons/Next");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("The kernel becomes"));
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("instruction by instruction"))) << "the answer is not given away";
    EXPECT_FALSE(told(ctx));
    ctx->ItemClick("//Lessons/**/faster");
    wait_until_told(ctx);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("You said otherwise. It is: neither: it is the same machine code"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("instruction by instruction"));
    ctx->ItemClick("//Lessons/Next");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Run tiled"));
    ctx->ItemClick("//Lessons/**/###run");
    if (!wait_for_run(ctx, "VEC_WIDTH", 4)) return;
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Turn the knobs"));
    ctx->ItemClick("//Experiment/VEC_WIDTH/1");
    if (!wait_for_run(ctx, "VEC_WIDTH", 1)) return;
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Reached."));
    ctx->ItemClick("//Lessons/Back");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("You said otherwise")) << "the answer is kept";
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("  done")));
    ctx->ItemClick("//Lessons/###leave");
    wait(
        ctx, [](const session::Snapshot& s) { return s.settings->contains("lessons"); }, "that it is kept as done");
    ctx->Yield(4);
    EXPECT_TRUE(ctx->ItemExists("//Lessons/04_idle_warps/##open"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("  done")) << "the list says so";
    EXPECT_EQ(session_->snapshot()->settings->at("lessons"), (Json{{lesson, true}}));
  });
}

// Leave is not where a user presses to go on, and a lesson says what to change.
TEST_F(LessonFlow, NothingBesideNextLeadsAway) {
  real_worker();
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Move NUM_WARPS to 8"));
    bench_->open_panel("Lessons");
    ctx->Yield(4);
    const float before = ctx->GetWindowByRef("//Lessons")->Size.y;
    open_lesson(ctx, "04_idle_warps");
    EXPECT_GT(ctx->GetWindowByRef("//Lessons")->Size.y, before + 20) << "a step has room for what came of it";
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Move NUM_WARPS")));
    const ImRect next = ctx->ItemInfo("//Lessons/Next").RectFull, leave = ctx->ItemInfo("//Lessons/###leave").RectFull;
    EXPECT_GT(leave.Min.x, next.Max.x + 400);
    EXPECT_GT(leave.Max.x, ctx->WindowInfo("//Lessons").Window->InnerRect.Max.x - 20);
    ctx->ItemClick("//Lessons/###leave");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Move NUM_WARPS to 8")) << "it is still the first start";
  });
}

TEST_F(LessonFlow, TheCodeSaysWhichLaneHoldsAnElement) {
  real_worker();
  options_.first_experiment = false;
  open({2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    open_lesson(ctx, "16_what_lane_7_holds");
    ctx->ItemClick("//Lessons/**/lane 1: a lane has a row");
    wait_until_told(ctx);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("You said otherwise. It is: lane 7: four lanes share a row"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Lane 7, from bit 0 of a register on"));
  });
}

TEST_F(LessonFlow, TheSoftmaxThatAKernelHoldsIsAnAnswer) {
  real_worker();
  options_.first_experiment = false;
  open({2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    open_lesson(ctx, "18_online_softmax");
    ctx->ItemClick("//Lessons/**/it stays: m stays");
    wait_until_told(ctx);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("You said otherwise. It is: it grows by the tile's own sum"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("m stays 2.01"));
    bench_->open_panel("Source");
    ctx->Yield(4);
    ctx->ItemClick("//Source/Softmax");
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("row 5")) << "it is the row that the step speaks of";
  });
}

// An answer that is wider than its column takes a second line.
TEST_F(LessonFlow, NoAnswerIsCut) {
  real_worker();
  options_.first_experiment = false;
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    open_lesson(ctx, "18_online_softmax");
    ctx->ItemClick("//Lessons/**/it stays: m stays");
    wait_until_told(ctx);
    ctx->ItemClick("//Lessons/Next");
    ctx->Yield(4);
    const ImGuiTestItemInfo answer =
        ctx->ItemInfo("//Lessons/**/###only the tile's own sum: what it held was under the wrong maximum");
    ASSERT_NE(answer.ID, 0U);
    EXPECT_LE(answer.RectFull.Max.x, answer.Window->InnerRect.Max.x + 1);
    EXPECT_GT(answer.RectFull.GetHeight(), 1.5f * ImGui::GetFontSize());
  });
}

TEST_F(LessonFlow, ARefusedConfigIsAnAnswerToo) {
  real_worker();
  options_.first_experiment = false;
  open();
  flow([&](ImGuiTestContext* ctx) {
    open_lesson(ctx, "08_shared_memory");
    ctx->ItemClick("//Lessons/**/4");
    wait_until_told(ctx);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("You said otherwise. It is: 2"));
    ctx->ItemClick("//Lessons/Next");
    ctx->Yield(4);
    ctx->ItemClick("//Lessons/**/does not fit");
    wait_until_told(ctx);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("As you said: does not fit"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("57,376"));
  });
}

}  // namespace
}  // namespace attnscope::ui
