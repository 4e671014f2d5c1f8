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

// Returns the machine code of a run that asks for it, or its softmax steps (Listing::softmax).
using CodeOf = std::function<Result<std::shared_ptr<const Listing>>(const Experiment& experiment, const Run& run)>;

struct Checked {
  int claims = 0;                 // number tried: choices, claims, goals, and texts with figures
  std::vector<Failure> faults{};  // the false ones, by step
};

// Runs every step in order and checks that exactly one choice of a question holds, that every claim holds, that every
// text can be filled in, and that a goal is missed by the step's run and met with its solution.
Checked check(const Lesson& lesson, const std::vector<Kernel>& kernels, const Runner& run, const CodeOf& code_of);

}  // namespace attnscope::lesson
