#include "cli/learn_extents.h"

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

constexpr int64_t kLimitMs = 12000;      // of processor time, for one question
constexpr int64_t kDeadlineMs = 240000;  // of wall time, where the machine is busy
// What a size may be at most, and a guessed one at least. A kernel with large tiles takes none smaller than them.
constexpr std::pair<int64_t, int64_t> kSizes[] = {{256, 0}, {512, 256}};

// Empty: there is no answer; the guesses stay.
std::vector<worker::TouchAnswer> ask(const worker::TouchQuestion& question) {
  const auto self = platform::own_executable();
  if (!self) return {};
  const std::string text = worker::question_text(question);
  platform::ToolRun run;
  run.program = *self;
  run.arguments = {"worker", worker::kTouchesOption, platform::tool_input};
  run.input = std::as_bytes(std::span(text));
  run.deadline_ms = static_cast<int>(kDeadlineMs);
  const auto output = platform::run_tool(run);
  if (!output || output->exit_code != 0) return {};
  auto answers = worker::answers_of(output->out, "the answer");
  return answers ? std::move(*answers) : std::vector<worker::TouchAnswer>{};
}

worker::TouchQuestion question_about(const ImportedFile& file) {
  return {file.imported.id, file.name, file.whole.text, kLimitMs, {}};
}

// False if the time was used up.
bool execute(const ImportedFile& file, std::vector<catalog::LearningRun>& runs) {
  worker::TouchQuestion question = question_about(file);
  for (const catalog::LearningRun& run : runs) question.runs.push_back({run.manifest, run.sizes});
  auto answers = ask(question);
  for (size_t i = 0; i < std::min(answers.size(), runs.size()); ++i) runs[i].touches = std::move(answers[i].touches);
  const auto cut = [](const worker::TouchAnswer& one) { return one.failure && one.failure->stage == Stage::cancelled; };
  return answers.size() == runs.size() && std::ranges::none_of(answers, cut);
}

// Whether the kernel stays within its buffers at the base's sizes and, as far as the time allows, at its own.
bool runs_with(const ImportedFile& file, const std::map<std::string, int64_t>& base) {
  worker::TouchQuestion question = question_about(file);
  question.runs = {{file.imported.manifest, base}, {file.imported.manifest, {}}};
  const auto answers = ask(question);
  return !answers.empty() && answers.front().touches &&
         std::ranges::all_of(answers, [](const worker::TouchAnswer& one) {
           return one.touches || (one.failure && one.failure->stage == Stage::cancelled);
         });
}

// Whether other sizes may tell more.
bool learn_from(ImportedFile& file, std::vector<catalog::LearningRun> runs) {
  const bool in_time = execute(file, runs);
  if (!runs.front().touches) return in_time;
  auto halved = catalog::halved_runs(file.imported, runs);
  if (in_time && !halved.empty()) {
    execute(file, halved);
    runs.insert(runs.end(), halved.begin(), halved.end());
  }
  ImportedFile learned = file;
  if (catalog::learn(learned.imported, runs) && runs_with(learned, runs.front().sizes)) file = std::move(learned);
  return in_time && !file.imported.open_lengths.empty();
}

}  // namespace

void learn_extents(ImportedFile& file) {
  if (!catalog::is_text(file.whole.text, file.name)) return;
  for (const auto& [most, least] : kSizes) {
    if (!catalog::can_learn(file.imported)) return;
    if (!learn_from(file, catalog::learning_runs(file.imported, most, least))) return;
  }
}

}  // namespace attnscope::cli
