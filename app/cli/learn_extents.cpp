#include "cli/learn_extents.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "catalog/catalog.h"
#include "catalog/learned.h"
#include "platform/paths.h"
#include "platform/run_tool.h"
#include "worker/touch_run.h"
#include "worker/worker.h"

namespace attnscope::cli {
namespace {

// Of all runs (Touches::work): about a quarter of a minute of a slow core.
constexpr int64_t kMostWork = 900'000'000;
// In case that a run hangs. Nothing is learned then, so that the same file always gives the same manifest or its
// guesses.
constexpr int64_t kLimitMs = 60'000, kDeadlineMs = 90'000;
constexpr int64_t kDeadlines = 4;  // that the runs have together, if a person gives one
constexpr int64_t kFar = 64;       // times its guessed length
// What a size may be at most, and a guessed one at least. A kernel with large tiles takes none smaller than them.
constexpr std::pair<int64_t, int64_t> kSizes[] = {{256, 0}, {512, 256}};

bool has_stage(const worker::TouchAnswer& one, Stage stage) { return one.failure && one.failure->stage == stage; }

// The tries for one file, which share their work.
class Learning {
 public:
  Learning(ImportedFile& file, int deadline_ms)
      : file_(file), limit_ms_(deadline_ms > 0 ? std::min(kLimitMs, kDeadlines * deadline_ms) : kLimitMs) {}

  void all() {
    if (is_too_sparse()) return;
    const catalog::Imported before = file_.imported;
    for (const auto& [most, least] : kSizes) {
      if (!catalog::can_learn(file_.imported)) break;
      learn_from(catalog::learning_runs(file_.imported, most, least));
      if (late_ || left_ == 0 || file_.imported.open_lengths.empty()) break;
    }
    if (late_) file_.imported = before;
    file_.hurried = file_.hurried || late_;
  }

 private:
  // Runs made a buffer far longer and almost nothing of it is accessed: the index is more likely wrong than the length,
  // so a run at the first lengths says where. The other notes stay as they were.
  bool is_too_sparse() {
    const auto far = [](const auto& one) { return one.second >= kFar; };
    if (!file_.at_first_lengths || std::ranges::none_of(file_.imported.open_lengths, far)) return false;
    const auto answers = ask({{file_.imported.manifest, {}}});
    if (answers.empty() || !answers[0].touches) return false;
    for (const Touch& one : answers[0].touches->buffers) {
      const auto open = file_.imported.open_lengths.find(one.buffer);
      if (!one.sparse || open == file_.imported.open_lengths.end() || !far(*open)) continue;
      file_.imported = std::move(*file_.at_first_lengths);
      file_.imported.guessed.push_back(
          fmt::format("{} keeps its length although a run leaves it: of {} bytes the kernel would access almost none",
                      one.buffer, one.end));
      return true;
    }
    return false;
  }

  // Empty: there is no answer; the guesses stay.
  std::vector<worker::TouchAnswer> ask(std::vector<worker::TouchQuestion::Run> asked) {
    const auto self = platform::own_executable();
    if (!self) return {};
    worker::TouchQuestion question{file_.imported.id, file_.name, file_.whole.text, left_, limit_ms_, std::move(asked)};
    const size_t count = question.runs.size();
    const std::string text = worker::question_text(question);
    platform::ToolRun run;
    run.program = *self;
    run.arguments = {"worker", worker::kTouchesOption, platform::tool_input};
    run.input = std::as_bytes(std::span(text));
    run.deadline_ms = static_cast<int>(kDeadlineMs);
    const auto output = platform::run_tool(run);
    late_ = late_ || !output;
    if (!output || output->exit_code != 0) return {};
    auto answers = worker::answers_of(output->out, "the answer");
    if (!answers || answers->size() != count) return {};
    for (const worker::TouchAnswer& one : *answers) {
      late_ = late_ || has_stage(one, Stage::cancelled);
      if (has_stage(one, Stage::deadline)) left_ = 0;
      if (one.touches) left_ = std::max<int64_t>(left_ - one.touches->work, 0);
    }
    return std::move(*answers);
  }

  void execute(std::vector<catalog::LearningRun>& runs) {
    std::vector<worker::TouchQuestion::Run> asked;
    for (const catalog::LearningRun& run : runs) asked.push_back({run.manifest, run.sizes});
    auto answers = ask(std::move(asked));
    for (size_t i = 0; i < answers.size(); ++i) runs[i].touches = std::move(answers[i].touches);
  }

  void learn_from(std::vector<catalog::LearningRun> runs) {
    execute(runs);
    if (late_ || !runs.front().touches) return;
    auto halved = catalog::halved_runs(file_.imported, runs);
    if (left_ > 0 && !halved.empty()) {
      execute(halved);
      runs.insert(runs.end(), halved.begin(), halved.end());
    }
    catalog::Imported learned = file_.imported;
    if (late_ || !catalog::learn(learned, runs)) return;
    std::swap(learned, file_.imported);
    if (!is_confirmed(runs.front().sizes)) file_.imported = std::move(learned);
  }

  // Whether the kernel stays within the learned lengths at the base's sizes and, unless that takes too much work, at
  // its own. The base gets some work even if the runs used up theirs.
  bool is_confirmed(const std::map<std::string, int64_t>& base) {
    left_ = std::max(left_, kMostWork / 4);
    const std::string manifest = file_.imported.manifest;
    const auto answers = ask({{manifest, base}, {manifest, {}}});
    if (answers.empty() || !answers[0].touches) return false;
    if (!has_stage(answers[1], Stage::deadline)) return answers[1].touches.has_value();
    file_.imported.probed.emplace_back("at its own sizes it runs too long to try what the runs at smaller ones show");
    return true;
  }

  ImportedFile& file_;
  const int64_t limit_ms_;
  int64_t left_ = kMostWork;
  bool late_ = false;  // a run took too much time, whatever its work
};

}  // namespace

void learn_extents(ImportedFile& file, int deadline_ms) {
  if (catalog::is_text(file.whole.text, file.name)) Learning(file, deadline_ms).all();
}

}  // namespace attnscope::cli
