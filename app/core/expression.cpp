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

// Whether a step of a whole-numbered evaluation on this thread passed what doubles hold exactly: its result, and all
// that follows from it, may be a neighbour of the right one. muParser's callbacks have no other place for it.
thread_local bool passed_exact = false;

double held(double a, double b, double result) {
  if (std::fabs(a) > kLargest || std::fabs(b) > kLargest || std::fabs(result) > kLargest) passed_exact = true;
  return result;
}
double sum_of(double a, double b) { return held(a, b, a + b); }
double difference_of(double a, double b) { return held(a, b, a - b); }
double product_of(double a, double b) { return held(a, b, a * b); }
double quotient_of(double a, double b) {
  return b == 0 ? a / b : held(a, b, a / b);  // what a division by zero means is the whole expression's to judge
}
double is_less(double a, double b) { return a < b; }
double is_at_most(double a, double b) { return a <= b; }
double is_greater(double a, double b) { return a > b; }
double is_at_least(double a, double b) { return a >= b; }
double is_equal(double a, double b) { return a == b; }
double is_different(double a, double b) { return a != b; }
double both(double a, double b) { return a != 0 && b != 0; }
double either(double a, double b) { return a != 0 || b != 0; }

// muParser's own operators, which would round in silence.
struct NamedOperator {
  const char* name;
  double (*function)(double, double);
  unsigned priority;
};
constexpr NamedOperator kOfWholeNumbers[] = {{"+", sum_of, mu::prADD_SUB},     {"-", difference_of, mu::prADD_SUB},
                                             {"*", product_of, mu::prMUL_DIV}, {"/", quotient_of, mu::prMUL_DIV},
                                             {"<", is_less, mu::prCMP},        {"<=", is_at_most, mu::prCMP},
                                             {">", is_greater, mu::prCMP},     {">=", is_at_least, mu::prCMP},
                                             {"==", is_equal, mu::prCMP},      {"!=", is_different, mu::prCMP},
                                             {"&&", both, mu::prLAND},         {"||", either, mu::prLOR}};

// A quotient of whole numbers below 2^53 is never rounded to a whole number: ceil() is exact.
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
enum class Numbers { whole, real };
std::unique_ptr<Parsed> parse(const std::string& expression, const Variables& variables, Numbers numbers) {
  auto parsed = std::make_unique<Parsed>();
  parsed->values.resize(variables.size());
  parsed->parser.ClearFun();
  parsed->parser.ClearConst();
  parsed->parser.DefineFun("min", least, true);
  parsed->parser.DefineFun("max", greatest, true);
  parsed->parser.DefineOprt("%", remainder_of, mu::prMUL_DIV, mu::oaLEFT, true);
  if (numbers == Numbers::whole) {
    parsed->parser.EnableBuiltInOprt(false);
    // Not optimised: what is computed at parsing would be flagged once and then never again.
    for (const NamedOperator& one : kOfWholeNumbers)
      parsed->parser.DefineOprt(one.name, one.function, one.priority, mu::oaLEFT, false);
  }
  parsed->parser.DefineFun("ceil_div", ceil_div, true);
  size_t next = 0;
  for (const auto& [name, value] : variables) {
    parsed->values[next] = value;
    parsed->parser.DefineVar(name, &parsed->values[next++]);
  }
  parsed->parser.SetExpr(expression);
  return parsed;
}

// Its results; `count` of them. A parser that threw, std::bad_alloc too, is not kept: muParser (2.3.3) crashes when it
// is asked again.
const double* results_of(const std::string& expression, const Variables& variables, Numbers numbers, int& count) {
  constexpr size_t kMost = 1000;
  thread_local std::unordered_map<std::string, std::unique_ptr<Parsed>> cache;
  std::string key = (numbers == Numbers::whole ? "" : "real\n") + expression;
  for (const auto& [name, value] : variables) (key += '\n') += name;
  auto found = cache.find(key);
  if (found == cache.end()) {
    if (cache.size() >= kMost) cache.clear();
    found = cache.emplace(std::move(key), parse(expression, variables, numbers)).first;
  }
  size_t next = 0;
  for (const auto& [name, value] : variables) found->second->values[next++] = value;
  try {
    return found->second->parser.Eval(count);
  } catch (...) {
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

Result<double> value_of(const std::string& expression, const Variables& variables, Numbers numbers,
                        const std::string& where) {
  if (const std::string refusal = refusal_of(expression); !refusal.empty())
    return fail(broken(where, expression, refusal));
  if (expression.find(',') != std::string::npos && expression.find('(') == std::string::npos)
    return fail(broken(where, expression, "holds more than one expression"));
  try {
    int results = 0;
    const double* values = results_of(expression, variables, numbers, results);
    if (results != 1) return fail(broken(where, expression, "holds more than one expression"));
    const double value = values[0];
    if (!std::isfinite(value)) return fail(broken(where, expression, "divides by zero or overflows"));
    return value;
  } catch (const mu::Parser::exception_type& error) {
    return fail(broken(where, expression, "cannot be evaluated: " + error.GetMsg()));
  }
}

}  // namespace

Result<double> evaluate_real(const std::string& expression, const Variables& variables, const std::string& where) {
  return value_of(expression, variables, Numbers::real, where);
}

Result<int64_t> evaluate(const std::string& expression, const Variables& variables, const std::string& where) {
  passed_exact = false;
  const Result<double> real = value_of(expression, variables, Numbers::whole, where);
  if (!real) return fail(real.error());
  const double value = *real;
  if (value != std::floor(value))
    return fail(broken(where, expression, fmt::format("is {}, not a whole number", value)));
  if (value < 0 || value > kLargest)
    return fail(broken(where, expression, fmt::format("is {}, outside 0…2^53 - 1", value)));
  if (passed_exact)
    return fail(broken(where, expression, "passes 2^53 on the way, from where on whole numbers are not exact"));
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
    auto made = attnscope::parse(expression, ones, Numbers::real);
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
