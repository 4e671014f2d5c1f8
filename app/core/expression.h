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
// number in 0…2^53 - 1. `where` is "file.json/launch/grid/0"; a Failure (Stage::catalog) names it.
Result<int64_t> evaluate(const std::string& expression, const Variables& variables, const std::string& where);
// Evaluates a condition: a whole number, where non-zero is true.
Result<bool> holds(const std::string& expression, const Variables& variables, const std::string& where);

// Evaluates to any finite value, for a kernel's float parameter.
Result<double> evaluate_real(const std::string& expression, const Variables& variables, const std::string& where);

// An expression over named numbers, parsed once and evaluated for each element of a tensor. It also knows sqrt, exp and
// other functions. Not thread-safe.
class ElementExpression {
 public:
  // Failure (Stage::catalog) at `where` if the expression does not parse or uses a name that is not in `names`.
  static Result<ElementExpression> parse(const std::string& expression, const std::vector<std::string>& names,
                                         const std::string& where);
  ElementExpression(ElementExpression&&) noexcept;
  ElementExpression& operator=(ElementExpression&&) noexcept;
  ~ElementExpression();
  double operator()(std::span<const double> values) const;  // in the order of the names; returns NaN if it has no value

 private:
  struct Parts;
  explicit ElementExpression(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace attnscope
