// What a kernel accesses at several sizes, as `attnscope import` asks for it.
#include "worker/touch_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kManifest = R"JSON({"id": "rows", "title": "Rows", "source": "rows.cu", "entry": "rows",
"problem": "custom", "sizes": {"n": 64}, "knobs": [],
"buffers": [{"name": "x", "role": "in", "dtype": "f32", "shape": ["1000"]},
            {"name": "y", "role": "out", "dtype": "f32", "shape": ["1000"]}],
"launch": {"grid": ["ceil_div(n, 32)", "1", "1"], "block": ["32", "1", "1"]}, "args": ["x", "y", "n"],
"reference": "none"})JSON";

TouchQuestion rows() {
  TouchQuestion question;
  question.id = "rows";
  question.source_name = "rows.cu";
  question.source = R"(extern "C" __global__ void rows(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[2 * i];
})";
  question.most_work = 1'000'000;
  question.limit_ms = 60000;
  question.runs = {{kManifest, {}}, {kManifest, {{"n", 100}}}, {kManifest, {{"n", 600}}}, {"{}", {}}};
  return question;
}

TEST(TouchRun, EachRunSaysWhatItAccessesOrWhyItDoesNotEnd) {
  const testing_support::TempDir cache;
  const auto services = services_in(cache.path());
  const auto answers = answer_touches(*services, rows());
  ASSERT_THAT(answers, SizeIs(4));
  ASSERT_TRUE(answers[0].touches) << answers[0].failure->message;
  ASSERT_TRUE(answers[1].touches);
  EXPECT_EQ(answers[0].touches->buffers[0], (Touch{"x", true, false, 0, 4 * 127, 0}));
  EXPECT_EQ(answers[0].touches->buffers[1], (Touch{"y", false, true, 0, 4 * 64, 4 * 64}));
  EXPECT_EQ(answers[1].touches->buffers[1].end, 400);
  ASSERT_TRUE(answers[2].failure);
  EXPECT_THAT(answers[2].failure->message, HasSubstr("past the end of x (4000 bytes)"));
  ASSERT_TRUE(answers[3].failure);
  EXPECT_THAT(answers[3].failure->message, HasSubstr("rows.json"));
}

// The same question has the same answers on a busy machine.
TEST(TouchRun, TheRunsShareTheirWork) {
  const testing_support::TempDir cache;
  const auto services = services_in(cache.path(), Purpose::emulate);
  TouchQuestion question = rows();
  question.runs.resize(2);
  const auto plenty = answer_touches(*services, question);
  ASSERT_TRUE(plenty[0].touches && plenty[1].touches);
  question.most_work = plenty[0].touches->work + plenty[1].touches->work - 1;
  const auto less = answer_touches(*services, question);
  ASSERT_THAT(less, SizeIs(2));
  EXPECT_EQ(less[0].touches, plenty[0].touches);
  ASSERT_TRUE(less[1].failure);
  EXPECT_EQ(less[1].failure->stage, Stage::deadline);
  question.limit_ms = 0;
  const auto late = answer_touches(*services, question);
  ASSERT_THAT(late, SizeIs(2));
  ASSERT_TRUE(late[1].failure);
  EXPECT_EQ(late[1].failure->stage, Stage::cancelled);
}

TEST(TouchRun, ItNeedsNoGpu) {
  const testing_support::TempDir cache;
  const auto services = services_in(cache.path(), Purpose::emulate);
  EXPECT_TRUE(std::ranges::all_of(services->devices, [](const auto& one) { return one->spec().emulated; }));
}

TEST(TouchRun, AQuestionAndItsAnswersTravelAsText) {
  const auto question = question_of(question_text(rows()), "q");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_EQ(question->source, rows().source);
  EXPECT_EQ(question->runs[1].sizes.at("n"), 100);
  const std::vector<TouchAnswer> said{{Touches{{{"x", true, false, 4, 8, 0}}, 3}, {}},
                                      {{}, Failure{Stage::launch, "no", "way"}}};
  const auto answers = answers_of(answers_text(said), "a");
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_THAT(*answers, SizeIs(2));
  EXPECT_EQ((*answers)[0].touches, said[0].touches);
  EXPECT_EQ((*answers)[1].failure, said[1].failure);
}

TEST(TouchRun, ATextThatIsNoQuestionIsRefused) {
  EXPECT_FALSE(question_of("[]", "q"));
  EXPECT_FALSE(question_of(R"({"id": "k"})", "q"));
  EXPECT_FALSE(answers_of(R"([{"touches": {"work": 1}}])", "a")) << "the buffers are missing";
  EXPECT_FALSE(answers_of("no", "a"));
}

}  // namespace
}  // namespace attnscope::worker
