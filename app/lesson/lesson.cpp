#include "lesson/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/validate.h"
#include "catalog/workload.h"
#include "core/fields.h"
#include "platform/json_file.h"

namespace attnscope {

using lesson::Choice;
using lesson::Goal;
using lesson::Lesson;
using lesson::Question;
using lesson::Run;
using lesson::Step;

namespace {
constexpr Limits kLine{.bytes = 200, .line = true, .required = true};
constexpr Limits kText{.bytes = 4000, .required = true};
constexpr Limits kExpression{.bytes = 1000, .required = true};
constexpr Limits kSettings{.most = 32, .bytes = 200};
}  // namespace

template <>
struct FieldsOf<Run> {
  static constexpr auto list =
      std::tuple{Field{"name", &Run::name, Limits{.bytes = 20, .line = true, .required = true}},
                 Field{"kernel", &Run::kernel, kLine},
                 Field{"set", &Run::set, kSettings},
                 Field{"problem", &Run::problem, Limits{.bytes = 200}},
                 Field{"watch", &Run::watch},
                 Field{"code", &Run::code},
                 Field{"softmax", &Run::softmax, Limits{.low = 0, .high = 1 << 24}}};
  static void check(JsonReader& read, Run& run) {
    const bool plain = std::ranges::all_of(run.name, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!plain || run.name.empty())
      read.fault("name", "must be capital letters", "Expressions use it: A.timing.us.p50");
    if (run.code && run.softmax) read.fault("softmax", "is not asked for beside the code", "Use two runs.");
  }
};

template <>
struct FieldsOf<Choice> {
  static constexpr auto list =
      std::tuple{Field{"text", &Choice::text, kLine}, Field{"holds", &Choice::holds, kExpression}};
};

template <>
struct FieldsOf<Question> {
  static constexpr auto list = std::tuple{Field{"ask", &Question::ask, kText},
                                          Field{"choices", &Question::choices, Limits{.most = 6, .required = true}}};
  static void check(JsonReader& read, Question& question) {
    if (question.choices.size() < 2) read.fault("choices", "must hold at least two");
  }
};

template <>
struct FieldsOf<Goal> {
  static constexpr auto list =
      std::tuple{Field{"text", &Goal::text, kText}, Field{"holds", &Goal::holds, kExpression},
                 Field{"solution", &Goal::solution, Limits{.most = 32, .bytes = 200, .required = true}}};
};

template <>
struct FieldsOf<Step> {
  static constexpr auto list = std::tuple{Field{"title", &Step::title, kLine},
                                          Field{"text", &Step::text, kText},
                                          Field{"predict", &Step::predict},
                                          Field{"run", &Step::run},
                                          Field{"reveal", &Step::reveal, Limits{.bytes = 4000}},
                                          Field{"claims", &Step::claims, Limits{.most = 32, .bytes = 1000}},
                                          Field{"goal", &Step::goal}};
  static void check(JsonReader& read, Step& step) {
    if (step.predict && !step.run) read.fault("predict", "needs a run, which gives the answer");
    if (step.goal && !step.run) read.fault("goal", "needs a run, from which the learner starts");
    if (!step.reveal.empty() && !step.run) read.fault("reveal", "needs a run, after which it is shown");
  }
};

template <>
struct FieldsOf<Lesson> {
  static constexpr auto list =
      std::tuple{Field{"title", &Lesson::title, kLine},
                 Field{"summary", &Lesson::summary, kText},
                 Field{"minutes", &Lesson::minutes, Limits{.low = 1, .high = 90, .required = true}},
                 Field{"questions", &Lesson::questions, Limits{.low = 1, .high = 16, .most = 16}},
                 Field{"device", &Lesson::device, Limits{.bytes = 100, .line = true, .required = true}},
                 Field{"steps", &Lesson::steps, Limits{.most = 64, .required = true}}};
  static void check(JsonReader& read, Lesson& lesson) {
    if (lesson.steps.empty()) read.fault("steps", "holds none");
    std::set<std::string> names;
    for (size_t at = 0; at < lesson.steps.size(); ++at)
      if (const auto& run = lesson.steps[at].run; run && !names.insert(run->name).second)
        read.fault(fmt::format("steps/{}/run/name", at), "is another run's too");
  }
};

namespace lesson {

Result<Lesson> read_lesson(const std::filesystem::path& path) {
  auto json = platform::read_json(path, kMaxBytes, Stage::input);
  if (!json) return fail(json.error());
  auto lesson = read_fields<Lesson>(*json, path.string(), Stage::input);
  if (lesson) lesson->id = path.stem().string();
  return lesson;
}

std::vector<Lesson> list_lessons(const std::filesystem::path& folder, std::vector<Failure>& faults) {
  std::vector<Lesson> lessons;
  std::error_code error;  // a missing folder has no lessons
  for (const auto& path : platform::json_files_in(folder, error)) {
    auto lesson = read_lesson(path);
    if (lesson)
      lessons.push_back(std::move(*lesson));
    else
      faults.push_back(lesson.error());
  }
  return lessons;
}

Result<Draft> draft_of(const Lesson& lesson, const Run& run, const std::vector<Kernel>& kernels,
                       const std::vector<std::string>& set) {
  const Kernel* kernel = find_kernel(kernels, run.kernel);
  if (kernel == nullptr)
    return fail(Stage::input,
                fmt::format("lesson {}, run {}: there is no kernel \"{}\"", lesson.id, run.name, run.kernel));
  Draft draft;
  draft.kernel = kernel->id;
  draft.device = lesson.device;
  draft.config.options = kernel->options;
  for (const Knob& knob : kernel->knobs) draft.config.knobs[knob.name] = knob.default_value;
  draft.problem = catalog::problem_for(*kernel, draft.problem);
  if (!run.problem.empty()) {
    auto problem = problem_from_text(run.problem, draft.problem);
    if (!problem) return fail(problem.error());
    draft.problem = *problem;
  }
  for (const auto* settings : {&run.set, &set}) {
    for (const std::string& setting : *settings) {
      auto parsed = catalog::parse_setting(*kernel, setting);
      if (!parsed) return fail(parsed.error());
      draft.config.knobs[parsed->first] = parsed->second;
    }
  }
  return draft;
}

}  // namespace lesson
}  // namespace attnscope
