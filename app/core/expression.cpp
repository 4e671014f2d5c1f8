#include "core/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/escape.h"

namespace attnscope {
namespace {

constexpr double kLargest = 9007199254740991.0;  // 2^53 - 1: from 2^53 on, a double may stand for a neighbour
constexpr size_t kLongest = 1000;                // bytes

double ceil_div(double a, double b) { return std::ceil(a / b); }
double remainder_of(double a, double b) { return std::fmod(a, b); }
double least(const double* values, int count) { return *std::min_element(values, values + count); }
double greatest(const double* values, int count) { return *std::max_element(values, values + count); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// What an expression over a tensor's elements knows beside the others (docs/writing-a-kernel.md lists them).
struct NamedFunction {
  const char* name;
  double (*function)(double);
};
constexpr NamedFunction kOfElements[] = {
    {"sqrt", std::sqrt}, {"exp", std::exp},   {"ln", std::log},    {"log2", std::log2}, {"log10", std::log10},
    {"sin", std::sin},   {"cos", std::cos},   {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos},
    {"atan", std::atan}, {"sinh", std::sinh}, {"cosh", std::cosh}, {"tanh", std::tanh}, {"abs", std::fabs},
    {"erf", std::erf},   {"rint", std::rint}, {"sign", sign}};

// An expression, parsed once for a set of names and then given their values: parsing costs some fifty times what
// evaluating does, and a window asks for the same expressions at every move of a knob.
struct Parsed {
  mu::Parser parser;
  std::vector<double> values;  // in the order of Variables; the parser holds their addresses
};

// muParser's stock form has no %, and offers much that a manifest must not have: its functions and constants go, = and
// ^ are refused before this.
std::unique_ptr<Parsed> parse(const std::string& expression, const Variables& variables) {
  auto parsed = std::make_unique<Parsed>();
  parsed->values.resize(variables.size());
  parsed->parser.ClearFun();
  parsed->parser.ClearConst();
  parsed->parser.DefineFun("min", least, true);
  parsed->parser.DefineFun("max", greatest, true);
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
  constexpr size_t kShown = 200;
  const std::string shown = one_line(std::string_view(expression).substr(0, kShown));
  return Failure{Stage::catalog,
                 fmt::format("{}: \"{}{}\" {}", where, shown, expression.size() > kShown ? "…" : "", reason),
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

// A whole number that no double holds would silently become its neighbour.
bool holds_inexact_number(const std::string& expression) {
  const auto digit = [&](size_t i) { return i < expression.size() && expression[i] >= '0' && expression[i] <= '9'; };
  const auto in_name = [&](size_t i) {
    return std::isalnum(static_cast<unsigned char>(expression[i])) != 0 || expression[i] == '_';
  };
  for (size_t i = 0; i < expression.size(); ++i) {
    if (!digit(i) || (i > 0 && (in_name(i - 1) || expression[i - 1] == '.'))) continue;
    constexpr int64_t kMost = int64_t{1} << 53;
    for (int64_t value = 0; digit(i); ++i)
      if ((value = value * 10 + (expression[i] - '0')) > kMost) return true;
  }
  return false;
}

// What muParser must not see; empty: nothing.
std::string refusal_of(const std::string& expression) {
  const auto known = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           (c != '\0' && std::string_view("_.,+-*/%()<>=!&|?: \t\r\n").find(c) != std::string_view::npos);
  };
  if (expression.size() > kLongest) return "is longer than 1,000 bytes";
  const auto strange = std::ranges::find_if_not(expression, known);
  if (strange != expression.end()) {
    const auto byte = static_cast<unsigned char>(*strange);
    return byte > 0x20 && byte < 0x7F ? fmt::format("holds {}, which no expression knows", *strange)
                                      : fmt::format("holds the byte 0x{:02x}, which no expression knows", byte);
  }
  if (assigns(expression)) return "assigns, which an expression may not";
  if (holds_inexact_number(expression)) return "holds a whole number over 2^53, which is not exact";
  return "";
}

}  // namespace

Result<double> evaluate_real(const std::string& expression, const Variables& variables, const std::string& where) {
  if (const std::string refusal = refusal_of(expression); !refusal.empty())
    return fail(broken(where, expression, refusal));
  if (expression.find(',') != std::string::npos && expression.find('(') == std::string::npos)
    return fail(broken(where, expression, "holds more than one expression"));
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
    return fail(broken(where, expression, fmt::format("is {}, outside 0…2^53 - 1", value)));
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
  if (const std::string refusal = refusal_of(expression); !refusal.empty())
    return fail(broken(where, expression, refusal));
  Variables ones;
  for (const std::string& name : names) ones[name] = 1;
  try {
    auto parts = std::make_unique<Parts>();
    auto made = attnscope::parse(expression, ones);
    for (const NamedFunction& one : kOfElements) made->parser.DefineFun(one.name, one.function, true);
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
