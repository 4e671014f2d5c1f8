#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/observation.h"
#include "lesson/lesson.h"

namespace attnscope::lesson {

using Runner = std::function<Result<Observation>(const Draft& draft, bool watch)>;

struct Checked {
  int claims = 0;                 // that were tried: choices, claims, goals, and texts with figures
  std::vector<Failure> faults{};  // those that do not hold, by step
};

// Runs every step in order: exactly one choice of a question holds, every claim holds, every text can be filled in, and
// a goal is missed by the step's run and met with its solution.
Checked check(const Lesson& lesson, const std::vector<Kernel>& kernels, const Runner& run);

}  // namespace attnscope::lesson
