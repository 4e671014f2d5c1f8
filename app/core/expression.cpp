#include "core/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <cmath>
#include <algorithm>

namespace attnscope {
namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53: above it a double no longer holds every whole number

double ceil_div(double a, double b) { return std::ceil(a / b); }
double remainder_of(double a, double b) { return std::fmod(a, b); }

// muParser's stock form has no %, and offers =, which a manifest must not have: it would change a knob.
void prepare(mu::Parser& parser, const Variables& variables) {
  parser.DefineOprt("%", remainder_of, mu::prMUL_DIV, mu::oaLEFT, true);
  parser.DefineFun("ceil_div", ceil_div, true);
  for (const auto& [name, value] : variables) parser.DefineConst(name, value);
}

Failure broken(const std::string& where, const std::string& expression, const std::string& reason) {
  return Failure{Stage::catalog, fmt::format("{}: \"{}\" {}", where, expression, reason),
                 "Expressions know + - * / % ( ) comparisons, && ||, ?:, min, max, ceil_div, the knobs and the sizes."};
}

bool assigns(const std::string& expression) {
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '=') continue;
    const bool follows = i > 0 && std::string_view("=<>!").find(expression[i - 1]) != std::string_view::npos;
    const bool precedes = i + 1 < expression.size() && expression[i + 1] == '=';
    if (!follows && !precedes) return true;
  }
  return false;
}

}  // namespace

Result<int64_t> evaluate(const std::string& expression, const Variables& variables, const std::string& where) {
  constexpr size_t kLongest = 1000;
  if (expression.size() > kLongest) return fail(broken(where, expression.substr(0, 40) + "…", "is longer than 1,000 bytes"));
  if (expression.find(',') != std::string::npos && expression.find('(') == std::string::npos)
    return fail(broken(where, expression, "holds more than one expression"));
  if (assigns(expression)) return fail(broken(where, expression, "assigns, which an expression may not"));
  try {
    mu::Parser parser;
    prepare(parser, variables);
    parser.SetExpr(expression);
    int results = 0;
    const double* values = parser.Eval(results);
    if (results != 1) return fail(broken(where, expression, "holds more than one expression"));
    const double value = values[0];
    if (!std::isfinite(value)) return fail(broken(where, expression, "divides by zero or overflows"));
    if (value != std::floor(value)) return fail(broken(where, expression, fmt::format("is {}, not a whole number", value)));
    if (value < 0 || value > kLargest)
      return fail(broken(where, expression, fmt::format("is {}, outside 0…2^53", value)));
    return static_cast<int64_t>(value);
  } catch (const mu::Parser::exception_type& error) {
    return fail(broken(where, expression, "cannot be evaluated: " + error.GetMsg()));
  }
}

Result<bool> holds(const std::string& expression, const Variables& variables, const std::string& where) {
  return evaluate(expression, variables, where).map([](int64_t value) { return value != 0; });
}

}  // namespace attnscope
