#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/listing.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::lesson {

// The number of instructions with one spelling, and the matrices of the first of them.
struct Instructions {
  int64_t count = 0;
  std::vector<MatrixFragment> fragments{};
};
using CodeForms = std::map<std::string, Instructions>;  // by spelling: "HMMA.16816.F32"

// The observations of a lesson by their runs' names, and expressions over them:
//
//   A.timing.us.p50 / B.timing.us.p50 > 1.2      numbers, by their keys in docs/observation.schema.json
//   A.verdict.state == "wrong"                    texts, with == and != only
//   A finds "banks.conflicts"                     1 if findings or watch have that rule, otherwise 0
//   A spends "bank conflicts"                     us of that term of the modelled time; 0: it has none
//   A.failure exists                              1 unless it is absent or null
//   A has "HMMA.16816.F32"                        how many such instructions A's code has
//   A lane "HMMA.16816.F32 A 9 6"                 the lane that holds element (9, 6) of A's first such instruction
//   A register "HMMA.16816.F32 A 9 6"             in which of the operand's registers, from 0
//   A bit "HMMA.16816.F32 A 9 6"                  the element's lowest bit in it
//
//   A step "l 3"                                  the softmax state of the run's row after the third key tile: m, l,
//                                                 exact_m and exact_l (in fp64), factor, added, largest (score)
//   A step "tiles"                                how many tiles there are
//
// `has` to `bit` need the run's code, `step` its softmax. A Failure (Stage::input) names the expression and the name,
// key, rule or instruction that does not exist.
class Observed {
 public:
  // `code`: the run's code or softmax steps; null if it was not requested or does not exist.
  void set(const std::string& name, const Observation& observation, const Listing* code = nullptr);

  Result<bool> holds(const std::string& expression) const;
  Result<double> value(const std::string& expression) const;
  // `text` with each {EXPRESSION} replaced by its value: 36,928, 1.28, shared memory.
  Result<std::string> filled(const std::string& text) const;

 private:
  std::map<std::string, Json> known_;
  std::map<std::string, CodeForms> code_;  // by run name
  std::map<std::string, SoftmaxSteps> softmax_;
};

}  // namespace attnscope::lesson
