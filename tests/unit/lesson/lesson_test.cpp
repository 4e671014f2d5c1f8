#include "lesson/lesson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "lesson/check.h"
#include "lesson/progress.h"
#include "support/temp_dir.h"

namespace attnscope::lesson {
namespace {

std::filesystem::path source_dir() { return ATTNSCOPE_SOURCE_DIR; }

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kWarps = R"({
  "title": "Warps", "summary": "Eight warps.", "minutes": 5, "questions": [2], "device": "emulated:l4",
  "steps": [
    {"title": "Twice", "text": "Twice the warps.",
     "predict": {"ask": "How fast?", "choices": [
       {"text": "twice", "holds": "A.timing.us.p50 < 600"}, {"text": "less", "holds": "A.timing.us.p50 >= 600"}]},
     "run": {"name": "A", "kernel": "tiled", "set": ["NUM_WARPS=8"], "problem": "S=128"},
     "reveal": "It takes {A.timing.us.p50} us.", "claims": ["A.timing.us.p50 < 1000"],
     "goal": {"text": "Under 500 us.", "holds": "now.timing.us.p50 < 500", "solution": ["BLOCK_M=16"]}},
    {"title": "End", "text": "That is all."}]})";

class LessonTest : public testing::Test {
 protected:
  Result<Lesson> read(const std::string& text) {
    const auto path = folder.path() / "warps.json";
    std::ofstream(path) << text;
    return read_lesson(path);
  }
  std::string refusal(const std::string& from, const std::string& to) {
    std::string text = kWarps;
    text.replace(text.find(from), from.size(), to);
    const auto lesson = read(text);
    return lesson ? "none" : lesson.error().message;
  }
  testing_support::TempDir folder;
  const std::vector<Kernel> kernels = catalog::load_catalog({source_dir() / "kernels"}).kernels;
};

Observation taking(double us) {
  Observation one;
  one.timing.emplace();
  one.timing->p50 = us;
  return one;
}

TEST_F(LessonTest, IsRead) {
  const auto lesson = read(kWarps);
  ASSERT_TRUE(lesson) << lesson.error().message;
  EXPECT_EQ(lesson->id, "warps");
  EXPECT_THAT(lesson->steps, SizeIs(2));
  const auto draft = draft_of(*lesson, *lesson->steps[0].run, kernels, {"NUM_WARPS=2"});
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->config.knobs.at("NUM_WARPS"), 2);
  EXPECT_EQ(draft->config.knobs.at("BLOCK_M"), 32) << "the default";
  EXPECT_EQ(draft->problem.seq_k, 128);
  EXPECT_EQ(draft->device, "emulated:l4");
}

TEST_F(LessonTest, FaultsAreNamed) {
  EXPECT_THAT(refusal("\"minutes\": 5", "\"minutes\": 500"), HasSubstr("warps.json/minutes"));
  EXPECT_THAT(refusal("\"name\": \"A\"", "\"name\": \"a\""), HasSubstr("steps/0/run/name"));
  EXPECT_THAT(refusal("\"title\": \"End\",", ""), HasSubstr("steps/1/title"));
  EXPECT_THAT(refusal("\"title\": \"End\"", "\"reveal\": \"x\", \"title\": \"End\""), HasSubstr("steps/1/reveal"));
  EXPECT_THAT(refusal("\"title\": \"Warps\"", "\"titel\": \"Warps\""), HasSubstr("title"));
  EXPECT_THAT(refusal(R"(, {"text": "less", "holds": "A.timing.us.p50 >= 600"})", ""), HasSubstr("at least two"));
}

// The largest and smallest of each, and one beyond.
TEST_F(LessonTest, HasItsLimits) {
  const auto letters = [](size_t count) { return Json(std::string(count, 'X')); };
  const auto many = [](size_t count, const Json& of) { return Json(std::vector<Json>(count, of)); };
  const Json choice{{"text", "t"}, {"holds", "1"}};
  const struct {
    const char* pointer;
    Json kept, beyond;
  } limits[] = {{"/title", letters(200), letters(201)},
                {"/summary", letters(4000), letters(4001)},
                {"/minutes", 1, 0},
                {"/minutes", 90, 91},
                {"/steps/0/title", letters(200), letters(201)},
                {"/steps/0/text", letters(4000), letters(4001)},
                {"/steps/0/reveal", letters(4000), letters(4001)},
                {"/steps/0/run/name", letters(20), letters(21)},
                {"/steps/0/run/kernel", letters(200), letters(201)},
                {"/steps/0/run/problem", letters(200), letters(201)},
                {"/steps/0/run/set", many(32, "A=1"), many(33, "A=1")},
                {"/steps/0/run/softmax", 0, -1},
                {"/steps/0/run/softmax", 1 << 24, (1 << 24) + 1},
                {"/steps/0/predict/choices", many(6, choice), many(7, choice)},
                {"/steps/0/predict/choices", many(2, choice), many(1, choice)},
                {"/steps/0/claims", many(32, "1"), many(33, "1")},
                {"/steps/0/claims/0", letters(1000), letters(1001)},
                {"/steps/0/goal/solution", many(32, "A=1"), many(33, "A=1")},
                {"/steps/0/goal/holds", letters(1000), letters(1001)}};
  for (const auto& [pointer, kept, beyond] : limits) {
    Json json = Json::parse(kWarps);
    json[Json::json_pointer(pointer)] = kept;
    const auto taken = read(json.dump());
    if (!taken) {  // another fault than this limit's: the name is used elsewhere
      EXPECT_THAT(taken.error().message, testing::Not(HasSubstr(std::string("warps.json") + pointer))) << pointer;
    }
    json[Json::json_pointer(pointer)] = beyond;
    const auto refused = read(json.dump());
    ASSERT_FALSE(refused) << pointer;
    EXPECT_THAT(refused.error().message, HasSubstr(pointer));
  }
}

TEST_F(LessonTest, WhatDoesNotExistIsNamed) {
  auto lesson = read(kWarps).value();
  attnscope::lesson::Run run = *lesson.steps[0].run;
  run.kernel = "tilde";
  EXPECT_THAT(draft_of(lesson, run, kernels).error().message, HasSubstr("\"tilde\""));
  run.kernel = "tiled";
  EXPECT_THAT(draft_of(lesson, run, kernels, {"WARPS=2"}).error().message, HasSubstr("WARPS"));
  run.problem = "S=0";
  EXPECT_FALSE(draft_of(lesson, run, kernels));
}

// A GPU on which 16 rows per CTA take 400 us and every other value 800.
Result<Observation> plausible(const Draft& draft, bool) {
  return taking(draft.config.knobs.at("BLOCK_M") == 16 ? 400 : 800);
}

const CodeOf no_code = [](const Experiment&, const Run&) -> Result<std::shared_ptr<const Listing>> {
  return fail(Stage::decode, "no code");
};

TEST_F(LessonTest, ALessonThatHolds) {
  const Checked checked = check(read(kWarps).value(), kernels, plausible, no_code);
  EXPECT_THAT(checked.faults, SizeIs(0));
  EXPECT_EQ(checked.claims, 5);  // question, reveal, claim, goal before and after
}

TEST_F(LessonTest, AFalseClaimIsAFault) {
  const auto lesson = read(kWarps).value();
  const auto faults = [&](double plain, double solved) {
    std::string all;
    for (const Failure& fault : check(
                                    lesson, kernels,
                                    [&](const Draft&draft, bool) -> Result<Observation> {
                                      return taking(draft.config.knobs.at("BLOCK_M") == 16 ? solved : plain);
                                    },
                                    no_code)
                                    .faults)
      all += fault.message + "\n";
    return all;
  };
  EXPECT_EQ(faults(800, 400), "");
  EXPECT_THAT(faults(1100, 400), HasSubstr("warps, step 1 (Twice): \"A.timing.us.p50 < 1000\" does not hold"));
  EXPECT_THAT(faults(400, 300), HasSubstr("meets already"));
  EXPECT_THAT(faults(800, 700), HasSubstr("its solution does not meet"));
}

TEST_F(LessonTest, ARunsCodeIsThereOnlyIfItIsAskedFor) {
  auto lesson = read(kWarps).value();
  lesson.steps[0].claims = {"A has \"EXIT\" == 1"};
  EXPECT_THAT(check(lesson, kernels, plausible, no_code).faults.at(0).message, HasSubstr("\"code\": true"));
  lesson.steps[0].run->code = true;
  EXPECT_THAT(check(lesson, kernels, plausible, no_code).faults.at(0).message, HasSubstr("no code"));
  const CodeOf exits = [](const Experiment&, const lesson::Run&) -> Result<std::shared_ptr<const Listing>> {
    Listing code;
    code.lines = {{.text = "EXIT"}};
    return std::make_shared<const Listing>(std::move(code));
  };
  EXPECT_THAT(check(lesson, kernels, plausible, exits).faults, SizeIs(0));
}

TEST_F(LessonTest, ARunsSoftmaxIsOfTheRowThatItAsksFor) {
  auto lesson = read(kWarps).value();
  lesson.steps[0].claims = {"A step \"l 1\" == 2.5"};
  EXPECT_THAT(check(lesson, kernels, plausible, no_code).faults.at(0).message, HasSubstr("\"softmax\": ROW"));
  lesson.steps[0].run->softmax = 17;
  const CodeOf steps = [](const Experiment&, const lesson::Run& run) -> Result<std::shared_ptr<const Listing>> {
    Listing code;
    code.softmax.emplace();
    code.softmax->row.row = run.softmax.value();
    code.softmax->m = code.softmax->exact_m = {1};
    code.softmax->l = code.softmax->exact_l = {run.softmax == 17 ? 2.5f : 0.0f};
    return std::make_shared<const Listing>(std::move(code));
  };
  EXPECT_THAT(check(lesson, kernels, plausible, steps).faults, SizeIs(0));
}

TEST_F(LessonTest, OneChoiceHolds) {
  auto lesson = read(kWarps).value();
  lesson.steps[0].predict->choices[0].holds = "A.timing.us.p50 < 900";
  EXPECT_THAT(check(lesson, kernels, plausible, no_code).faults.at(0).message, HasSubstr("\"twice\" and \"less\""));
  lesson.steps[0].predict->choices[0].holds = lesson.steps[0].predict->choices[1].holds = "A.timing.us.p50 < 0";
  EXPECT_THAT(check(lesson, kernels, plausible, no_code).faults.at(0).message, HasSubstr("no choice holds"));
}

TEST_F(LessonTest, ARunThatCannotStartIsAFault) {
  const auto faults =
      check(
          read(kWarps).value(), kernels,
          [](const Draft&, bool) -> Result<Observation> { return fail(Stage::device, "no device"); }, no_code)
          .faults;
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_THAT(faults[0].message, HasSubstr("no device"));
}

// What a run lacks is one fault, and nothing that refers to it is another.
TEST_F(LessonTest, ARunWithoutItsCodeIsAFault) {
  for (const bool softmax : {false, true}) {
    auto lesson = read(kWarps).value();
    if (softmax)
      lesson.steps[0].run->softmax = 3;
    else
      lesson.steps[0].run->code = true;
    const auto faults = check(lesson, kernels, plausible, no_code).faults;
    ASSERT_THAT(faults, SizeIs(1));
    EXPECT_THAT(faults[0].message, HasSubstr("no code"));
  }
}

TEST_F(LessonTest, ALearnerPredictsRunsAndReaches) {
  Progress progress(read(kWarps).value());
  EXPECT_EQ(progress.state(), Progress::State::asks);
  EXPECT_EQ(progress.wanted(), nullptr);
  progress.take(taking(800));  // about something else: the question stays open
  EXPECT_EQ(progress.state(), Progress::State::asks);
  progress.choose(7);
  EXPECT_EQ(progress.state(), Progress::State::asks);
  progress.choose(0);
  EXPECT_EQ(progress.state(), Progress::State::waits);
  ASSERT_NE(progress.wanted(), nullptr);
  EXPECT_FALSE(progress.may_go_on());
  progress.take(taking(800));
  EXPECT_EQ(progress.state(), Progress::State::practises);
  EXPECT_EQ(progress.right().value(), 1u);
  EXPECT_EQ(progress.chosen(), 0u);
  progress.choose(1);  // too late
  EXPECT_EQ(progress.chosen(), 0u);
  progress.take(taking(450));
  EXPECT_TRUE(progress.reached());
  EXPECT_EQ(progress.filled(progress.step().reveal).value(), "It takes 800 us.");  // the step's run, not the last
  progress.take(taking(700));
  EXPECT_TRUE(progress.reached());
  progress.next();
  EXPECT_TRUE(progress.is_last());
  EXPECT_EQ(progress.state(), Progress::State::told);
  progress.next();
  EXPECT_EQ(progress.at(), 1u);
  progress.back();
  EXPECT_EQ(progress.chosen(), 0u);
  EXPECT_EQ(progress.state(), Progress::State::told);
  progress.back();
  EXPECT_EQ(progress.at(), 0u);
}

// What the learner may see: nothing of a step before it is explained, and their own run only at its step.
TEST_F(LessonTest, FiguresAreHiddenUntilTheStepIsTold) {
  const auto times = [](const Progress& progress) {
    std::vector<double> all;
    for (const Progress::Told& told : progress.told()) all.push_back(told.observation->timing->p50);
    return all;
  };
  Progress progress(read(kWarps).value());
  EXPECT_THAT(progress.told(), SizeIs(0));
  progress.choose(0);
  EXPECT_THAT(progress.told(), SizeIs(0));
  progress.take(taking(800));
  EXPECT_EQ(times(progress), (std::vector<double>{800}));
  EXPECT_EQ(progress.told()[0].run->name, "A");
  progress.take(taking(450));
  progress.take(taking(700));
  EXPECT_EQ(times(progress), (std::vector<double>{800, 700}));
  EXPECT_EQ(progress.told()[1].run, nullptr) << "the learner's own, the last";
  progress.next();
  EXPECT_EQ(times(progress), (std::vector<double>{800}));
  progress.back();
  EXPECT_EQ(times(progress), (std::vector<double>{800}));
}

TEST(ShippedLessons, AreReadAndPlaceTheirKernels) {
  std::vector<Failure> faults;
  const auto lessons = list_lessons(source_dir() / "assets/lessons", faults);
  for (const Failure& fault : faults) ADD_FAILURE() << fault.message;
  EXPECT_FALSE(lessons.empty());
  const auto kernels = catalog::load_catalog({source_dir() / "kernels"}).kernels;
  for (const Lesson& lesson : lessons)
    for (const Step& step : lesson.steps)
      if (step.run) {
        const auto draft =
            draft_of(lesson, *step.run, kernels, step.goal ? step.goal->solution : std::vector<std::string>{});
        EXPECT_TRUE(draft) << lesson.id << ": " << draft.error().message;
      }
}

}  // namespace
}  // namespace attnscope::lesson
