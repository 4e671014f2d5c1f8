#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/result.h"

namespace attnscope {

using Variables = std::map<std::string, double>;

// Evaluates a manifest's expression (muParser with %, ceil_div, min, max; no assignment). The result must be a whole number
// in 0…2^53. `where` is "file.json/launch/grid/0": the Failure names it (Stage::catalog).
Result<int64_t> evaluate(const std::string& expression, const Variables& variables, const std::string& where);
// The same, as a condition: a whole number, non-zero is true.
Result<bool> holds(const std::string& expression, const Variables& variables, const std::string& where);

}  // namespace attnscope
