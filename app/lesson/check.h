#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/listing.h"
#include "core/observation.h"
#include "lesson/lesson.h"

namespace attnscope::lesson {

using Runner = std::function<Result<Observation>(const Draft& draft, bool watch)>;

// The machine code of a run that asks for it, or what its softmax holds (Listing::softmax).
using CodeOf = std::function<Result<std::shared_ptr<const Listing>>(const Experiment& experiment, const Run& run)>;

struct Checked {
  int claims = 0;                 // that were tried: choices, claims, goals, and texts with figures
  std::vector<Failure> faults{};  // those that do not hold, by step
};

// Runs every step in order: exactly one choice of a question holds, every claim holds, every text can be filled in, and
// a goal is missed by the step's run and met with its solution.
Checked check(const Lesson& lesson, const std::vector<Kernel>& kernels, const Runner& run, const CodeOf& code_of);

}  // namespace attnscope::lesson
