#pragma once
#include <map>
#include <string>

#include "core/json.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::lesson {

// The observations of a lesson by their runs' names, and expressions over them:
//
//   A.timing.us.p50 / B.timing.us.p50 > 1.2      numbers, by their keys in docs/observation.schema.json
//   A.verdict.state == "wrong"                    texts, with == and != only
//   A finds "banks.conflicts"                     1 if findings or watch hold that rule, else 0
//   A spends "bank conflicts"                     us of that term of the modelled time; 0: it has none
//   A.failure exists                              1 unless it is absent or null
//
// A Failure (Stage::input) names the expression and the name, key or rule that does not exist.
class Observed {
 public:
  void set(const std::string& name, const Observation& observation);

  Result<bool> holds(const std::string& expression) const;
  Result<double> value(const std::string& expression) const;
  // `text` with each {EXPRESSION} replaced by its value: 36,928, 1.28, shared memory.
  Result<std::string> filled(const std::string& text) const;

 private:
  std::map<std::string, Json> known_;
};

}  // namespace attnscope::lesson
