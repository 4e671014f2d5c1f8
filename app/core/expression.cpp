#include "core/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

namespace attnscope {
namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53: above it a double no longer holds every whole number

double ceil_div(double a, double b) { return std::ceil(a / b); }
double remainder_of(double a, double b) { return std::fmod(a, b); }

// An expression, parsed once for a set of names and then given their values: parsing costs some fifty times what
// evaluating does, and a window asks for the same expressions at every move of a knob.
struct Parsed {
  mu::Parser parser;
  std::vector<double> values;  // in the order of Variables; the parser holds their addresses
};

// muParser's stock form has no %, and offers =, which a manifest must not have: assigns() refuses it before this.
std::unique_ptr<Parsed> parse(const std::string& expression, const Variables& variables) {
  auto parsed = std::make_unique<Parsed>();
  parsed->values.resize(variables.size());
  parsed->parser.DefineOprt("%", remainder_of, mu::prMUL_DIV, mu::oaLEFT, true);
  parsed->parser.DefineFun("ceil_div", ceil_div, true);
  size_t next = 0;
  for (const auto& [name, value] : variables) {
    parsed->values[next] = value;
    parsed->parser.DefineVar(name, &parsed->values[next++]);
  }
  parsed->parser.SetExpr(expression);
  return parsed;
}

// Its results; `count` of them. A parser that threw is not kept: muParser (2.3.3) crashes when it is asked again.
const double* results_of(const std::string& expression, const Variables& variables, int& count) {
  constexpr size_t kMost = 1000;
  thread_local std::unordered_map<std::string, std::unique_ptr<Parsed>> cache;
  std::string key = expression;
  for (const auto& [name, value] : variables) (key += '\n') += name;
  auto found = cache.find(key);
  if (found == cache.end()) {
    if (cache.size() >= kMost) cache.clear();
    found = cache.emplace(std::move(key), parse(expression, variables)).first;
  }
  size_t next = 0;
  for (const auto& [name, value] : variables) found->second->values[next++] = value;
  try {
    return found->second->parser.Eval(count);
  } catch (const mu::Parser::exception_type&) {
    cache.erase(found);
    throw;
  }
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

Result<double> evaluate_real(const std::string& expression, const Variables& variables, const std::string& where) {
  constexpr size_t kLongest = 1000;
  if (expression.size() > kLongest)
    return fail(broken(where, expression.substr(0, 40) + "…", "is longer than 1,000 bytes"));
  if (expression.find(',') != std::string::npos && expression.find('(') == std::string::npos)
    return fail(broken(where, expression, "holds more than one expression"));
  if (assigns(expression)) return fail(broken(where, expression, "assigns, which an expression may not"));
  try {
    int results = 0;
    const double* values = results_of(expression, variables, results);
    if (results != 1) return fail(broken(where, expression, "holds more than one expression"));
    const double value = values[0];
    if (!std::isfinite(value)) return fail(broken(where, expression, "divides by zero or overflows"));
    return value;
  } catch (const mu::Parser::exception_type& error) {
    return fail(broken(where, expression, "cannot be evaluated: " + error.GetMsg()));
  }
}

Result<int64_t> evaluate(const std::string& expression, const Variables& variables, const std::string& where) {
  const Result<double> real = evaluate_real(expression, variables, where);
  if (!real) return fail(real.error());
  const double value = *real;
  if (value != std::floor(value))
    return fail(broken(where, expression, fmt::format("is {}, not a whole number", value)));
  if (value < 0 || value > kLargest)
    return fail(broken(where, expression, fmt::format("is {}, outside 0…2^53", value)));
  return static_cast<int64_t>(value);
}

Result<bool> holds(const std::string& expression, const Variables& variables, const std::string& where) {
  return evaluate(expression, variables, where).map([](int64_t value) { return value != 0; });
}

struct ElementExpression::Parts {
  mutable Parsed parsed;
  std::vector<size_t> order;  // of the names given, in the parser's values
};

ElementExpression::ElementExpression(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ElementExpression::ElementExpression(ElementExpression&&) noexcept = default;
ElementExpression& ElementExpression::operator=(ElementExpression&&) noexcept = default;
ElementExpression::~ElementExpression() = default;

Result<ElementExpression> ElementExpression::parse(const std::string& expression, const std::vector<std::string>& names,
                                                   const std::string& where) {
  if (assigns(expression)) return fail(broken(where, expression, "assigns, which an expression may not"));
  Variables ones;
  for (const std::string& name : names) ones[name] = 1;
  try {
    auto parts = std::make_unique<Parts>();
    auto made = attnscope::parse(expression, ones);
    made->parser.DefineFun("erf", static_cast<double (*)(double)>(std::erf), true);
    int results = 0;
    made->parser.Eval(results);
    if (results != 1) return fail(broken(where, expression, "holds more than one expression"));
    parts->parsed.parser = made->parser;
    parts->parsed.values = std::move(made->values);  // the buffer that the parser points into moves along
    for (const std::string& name : names)
      parts->order.push_back(static_cast<size_t>(std::distance(ones.begin(), ones.find(name))));
    return ElementExpression(std::move(parts));
  } catch (const mu::Parser::exception_type& error) {
    return fail(broken(where, expression, "cannot be evaluated: " + error.GetMsg()));
  }
}

double ElementExpression::operator()(std::span<const double> values) const {
  for (size_t i = 0; i < values.size() && i < parts_->order.size(); ++i)
    parts_->parsed.values[parts_->order[i]] = values[i];
  try {
    return parts_->parsed.parser.Eval();
  } catch (const mu::Parser::exception_type&) {
    return std::nan("");
  }
}

}  // namespace attnscope
