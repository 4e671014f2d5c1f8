// Every lesson that ships, in the window: answers by mouse, runs, what is told, and the goal, reached by its knobs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "lesson/lesson.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using lesson::Lesson;
using lesson::Step;
using testing::HasSubstr;
using testing::Not;

// Problems with which a lesson's goal can be reached at a fraction of its cost. The others run on one head of 128 rows.
const std::map<std::string, std::string> kProblems{
    {"01_what_a_cta_computes", "H=32,S=128"},   // as many query rows as in the lesson, with a quarter of the keys
    {"04_idle_warps", "H=32,S=128"},            // the same
    {"09_the_tail", "H=32,S=128"},              // the same
    {"11_occupancy_misleads", ""},              // as it ships: its goal is a difference of 2 %
    {"18_online_softmax", "H=1,S=512"},         // as many tiles of keys
    {"19_reading_the_timeline", "H=32,S=128"},  // as many CTAs
    {"20_split_keys", ""}                       // as it ships: its goal needs the eight heads
};

class EveryLessonFlow : public WindowFlow {
 protected:
  static std::vector<Lesson> shipped() {
    std::vector<Failure> faults;
    auto all = lesson::list_lessons(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets/lessons", faults);
    EXPECT_TRUE(faults.empty());
    return all;
  }
  const lesson::Progress* progress() { return bench_->lesson().progress(); }
  void wait_until_told(ImGuiTestContext* ctx) {
    EXPECT_TRUE(wait(
        ctx, [&](const session::Snapshot& s) { return !s.focus.running && progress()->may_go_on(); },
        "the step is told"));
    ctx->Yield(4);  // it is drawn
  }
  // An item is named by its words; an answer of two lines by what follows "###".
  static std::string item_of(ImGuiTestContext* ctx, const std::string& words) {
    std::string escaped;
    for (const char c : words) escaped += c == '/' ? std::string("\\/") : std::string(1, c);
    const std::string plain = "//Lessons/**/" + escaped;
    return ctx->ItemExists(plain.c_str()) ? plain : "//Lessons/**/###" + escaped;
  }
  // Answers the question with its first choice, or presses the button that starts the step's run.
  void go_on(ImGuiTestContext* ctx, const Step& step) {
    if (step.predict) {
      EXPECT_FALSE(progress()->may_go_on()) << "the answer is not given away";
      return ctx->ItemClick(item_of(ctx, step.predict->choices.front().text).c_str());
    }
    const char* const run = "//Lessons/**/###run";
    wait(
        ctx, [&](const session::Snapshot&) { return progress()->may_go_on() || ctx->ItemExists(run); },
        "the step's button");
    if (!progress()->may_go_on()) ctx->ItemClick(run);
  }
  // What the window says after the run: whether the prediction holds, and the reveal with its figures.
  void expect_told(ImGuiTestContext* ctx, const Step& step) {
    const std::string words = drawn_words(ctx);
    const auto right = step.predict ? progress()->right() : Result<size_t>(size_t{0});
    if (step.predict && right) {  // of a small problem no choice may hold; `lesson check` holds the shipped ones
      EXPECT_THAT(words, HasSubstr((*right == 0 ? "As you said: " : "You said otherwise. It is: ") +
                                   step.predict->choices[*right].text));
    }
    for (const std::string& text : {step.text, step.reveal, step.goal ? step.goal->text : ""}) {
      const auto filled = progress()->filled(text);
      ASSERT_TRUE(filled) << filled.error().message;
      EXPECT_THAT(words, HasSubstr(*filled));
    }
  }
  void reach(ImGuiTestContext* ctx, const lesson::Goal& goal) {
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Reached.")));
    for (const std::string& set : goal.solution) {
      const size_t equals = set.find('=');
      ctx->ItemClick(("//Experiment/" + set.substr(0, equals) + "/" + set.substr(equals + 1)).c_str());
    }
    wait(
        ctx, [&](const session::Snapshot&) { return progress()->reached(); }, "the goal");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Reached."));
  }
  void go_through(ImGuiTestContext* ctx, const Lesson& lesson, const std::string& id) {
    ctx->ItemClick(("//Lessons/" + id + "/##open").c_str());
    ctx->Yield(2);
    ASSERT_NE(progress(), nullptr);
    for (size_t at = 0; at < lesson.steps.size(); ++at) {
      const Step& step = lesson.steps[at];
      SCOPED_TRACE(step.title);
      EXPECT_THAT(drawn_words(ctx), HasSubstr(fmt::format("step {} of {}", at + 1, lesson.steps.size())));
      go_on(ctx, step);
      wait_until_told(ctx);
      expect_told(ctx, step);
      if (step.goal) reach(ctx, *step.goal);
      ctx->ItemClick(at + 1 < lesson.steps.size() ? "//Lessons/Next" : "//Lessons/###leave");
      ctx->Yield(2);
    }
    EXPECT_EQ(progress(), nullptr);
  }
};

// One window, one session and one worker serve them all, so that a lesson costs little more than its runs.
TEST_F(EveryLessonFlow, GoesFromPredictToFixed) {
  real_worker();
  options_.first_experiment = false;
  options_.watch_configs = true;
  const std::vector<Lesson> lessons = shipped();
  std::vector<std::string> ids;
  for (const Lesson& one : lessons) {
    const auto problem = kProblems.find(one.id);
    const bool as_it_ships = problem != kProblems.end() && problem->second.empty();
    ids.push_back(as_it_ships                  ? one.id
                  : problem == kProblems.end() ? small_lesson(one.id)
                                               : small_lesson(one.id, problem->second));
  }
  open({2560, 1440});  // every knob is visible
  Json done = Json::object();
  for (size_t at = 0; at < lessons.size(); ++at) {
    SCOPED_TRACE(lessons[at].id);
    flow([&](ImGuiTestContext* ctx) {
      if (at == 0) {
        ctx->Yield(12);
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
        ctx->Yield(8);
      }
      go_through(ctx, lessons[at], ids[at]);
      done[ids[at]] = true;
      wait(
          ctx,
          [&](const session::Snapshot& s) {
            return s.settings->contains("lessons") && s.settings->at("lessons") == done;
          },
          "that it is kept as done");
    });
    if (HasFailure()) return;  // the next one would begin in the middle of this one
  }
}

// A lesson whose subject is how to read a figure has nothing to fix; every other ends at a goal.
TEST_F(EveryLessonFlow, EveryOtherLessonHasSomethingToFix) {
  std::vector<std::string> without;
  for (const Lesson& one : shipped())
    if (std::ranges::none_of(one.steps, [](const Step& step) { return step.goal.has_value(); }))
      without.push_back(one.id);
  EXPECT_THAT(without, testing::ElementsAre("15_mostly_the_launch", "17_parameter_12", "22_timing_honestly"));
}

}  // namespace
}  // namespace attnscope::ui
