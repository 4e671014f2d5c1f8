#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::lesson {

// One experiment of a step. Later expressions refer to its observation by its name.
struct Run {
  std::string name{};                // "A"
  std::string kernel{};              // kernel id
  std::vector<std::string> set{};    // KNOB=VALUE
  std::string problem{};             // "B=1,H=8,…"; empty: the kernel's default
  bool watch = false;                // look for races, reads of memory never written, and outputs right by luck
  bool code = false;                 // fetch its machine code too: which lanes hold what
  std::optional<int64_t> softmax{};  // a query row of the first head whose softmax steps are fetched
};

struct Choice {
  std::string text{};
  std::string holds{};  // an expression that is true if this is the right choice
};
// Asked before the step's run starts.
struct Question {
  std::string ask{};
  std::vector<Choice> choices{};  // exactly one holds
};
// What the learner tries to reach by turning knobs, starting from the step's run.
struct Goal {
  std::string text{};
  std::string holds{};                  // an expression over `now`, the last run
  std::vector<std::string> solution{};  // KNOB=VALUE; shows that the goal can be reached
};

// `text` and `reveal` may contain {EXPRESSION}, so that figures are computed, never typed.
struct Step {
  std::string title{};
  std::string text{};
  std::optional<Question> predict{};
  std::optional<Run> run{};
  std::string reveal{};               // shown after the run
  std::vector<std::string> claims{};  // expressions that text and reveal rely on
  std::optional<Goal> goal{};
};

struct Lesson {
  std::string id{};  // the file's name without .json
  std::string title{};
  std::string summary{};
  int minutes = 0;
  std::vector<int> questions{};  // the reports' questions that it answers
  std::string device{};          // id of the device for its runs
  std::vector<Step> steps{};
};

inline constexpr uint64_t kMaxBytes = 1 << 18;  // of a lesson's file

// A fault is a Failure (Stage::input) that names file and JSON pointer.
Result<Lesson> read_lesson(const std::filesystem::path& path);
// The folder's lessons, ordered by file name. A file with a fault is left out, and its Failure is added to `faults`.
std::vector<Lesson> list_lessons(const std::filesystem::path& folder, std::vector<Failure>& faults);

// The draft of a lesson's run, with every knob: those that the run does not set have their defaults. `set` overrides
// the run's own settings. A Failure names the kernel, knob or problem that does not exist.
Result<Draft> draft_of(const Lesson& lesson, const Run& run, const std::vector<Kernel>& kernels,
                       const std::vector<std::string>& set = {});

}  // namespace attnscope::lesson
