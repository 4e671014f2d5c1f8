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

// One experiment of a step. Later expressions know what it gave by its name.
struct Run {
  std::string name{};                // "A"
  std::string kernel{};              // id
  std::vector<std::string> set{};    // KNOB=VALUE
  std::string problem{};             // "B=1,H=8,…"; empty: the kernel's own
  bool watch = false;                // look for races, never-written reads and what is right by luck
  bool code = false;                 // its machine code too: which lanes hold what
  std::optional<int64_t> softmax{};  // a query row of the first head: what the kernel's softmax holds of it
};

struct Choice {
  std::string text{};
  std::string holds{};  // an expression: whether this is the right one
};
// Asked before the step's run starts.
struct Question {
  std::string ask{};
  std::vector<Choice> choices{};  // exactly one holds
};
// What the learner is to reach by turning knobs, from the step's run.
struct Goal {
  std::string text{};
  std::string holds{};                  // an expression over `now`, the last run
  std::vector<std::string> solution{};  // KNOB=VALUE: shows that it can be reached
};

// Text and reveal may hold {EXPRESSION}: figures are computed, never typed.
struct Step {
  std::string title{};
  std::string text{};
  std::optional<Question> predict{};
  std::optional<Run> run{};
  std::string reveal{};               // after the run
  std::vector<std::string> claims{};  // expressions that text and reveal rely on
  std::optional<Goal> goal{};
};

struct Lesson {
  std::string id{};  // the file's name without .json
  std::string title{};
  std::string summary{};
  int minutes = 0;
  std::vector<int> questions{};  // of the reports, that it answers
  std::string device{};          // where its runs take place
  std::vector<Step> steps{};
};

inline constexpr uint64_t kMaxBytes = 1 << 18;  // of a file

// A fault is a Failure (Stage::input) that names file and JSON pointer.
Result<Lesson> read_lesson(const std::filesystem::path& path);
// The folder's lessons in the order of their file names; a file with a fault is left out and its Failure added.
std::vector<Lesson> list_lessons(const std::filesystem::path& folder, std::vector<Failure>& faults);

// With every knob; what the run does not set has its default. `set` overrides the run's own settings. A Failure names
// the kernel, knob or problem that does not exist.
Result<Draft> draft_of(const Lesson& lesson, const Run& run, const std::vector<Kernel>& kernels,
                       const std::vector<std::string>& set = {});

}  // namespace attnscope::lesson
