#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope {

using Variables = std::map<std::string, double>;

// Evaluates a manifest's expression (muParser with %, ceil_div, min, max; no assignment). The result must be a whole
// number in 0…2^53 - 1. `where` is "file.json/launch/grid/0": the Failure names it (Stage::catalog).
Result<int64_t> evaluate(const std::string& expression, const Variables& variables, const std::string& where);
// The same as a condition: an integer; non-zero is true.
Result<bool> holds(const std::string& expression, const Variables& variables, const std::string& where);

// The same for any finite value: a kernel's float parameter.
Result<double> evaluate_real(const std::string& expression, const Variables& variables, const std::string& where);

// An expression over named numbers, parsed once and evaluated for each element of a tensor; it knows sqrt, exp, … too.
// Not thread-safe.
class ElementExpression {
 public:
  // Failure (Stage::catalog) at `where` when the expression does not parse or knows other names.
  static Result<ElementExpression> parse(const std::string& expression, const std::vector<std::string>& names,
                                         const std::string& where);
  ElementExpression(ElementExpression&&) noexcept;
  ElementExpression& operator=(ElementExpression&&) noexcept;
  ~ElementExpression();
  double operator()(std::span<const double> values) const;  // in the order of the names; NaN where it has no value

 private:
  struct Parts;
  explicit ElementExpression(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace attnscope
