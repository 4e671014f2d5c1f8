#include "core/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/escape.h"

namespace attnscope {
namespace {

constexpr double kLargest = 9007199254740991.0;  // 2^53 - 1: from 2^53 on, a double may represent a neighbouring number
constexpr size_t kLongest = 1000;                // bytes

// Set if a step of an integer evaluation on this thread exceeded what a double holds exactly, so that its result may be
// off by one or more. muParser's callbacks leave no other place for this flag.
thread_local bool passed_exact = false;

template <class Operator>
double result_of(double a, double b) {
  return Operator()(a, b);
}
template <class Operator>
double exact(double a, double b) {
  const double result = result_of<Operator>(a, b);
  if (std::fabs(a) > kLargest || std::fabs(b) > kLargest || std::fabs(result) > kLargest) passed_exact = true;
  return result;
}
// A division by zero is judged by the result of the whole expression.
double quotient_of(double a, double b) { return b == 0 ? a / b : exact<std::divides<>>(a, b); }

// Replacements for muParser's own operators, which would round silently.
struct NamedOperator {
  const char* name;
  double (*function)(double, double);
  unsigned priority;
};
constexpr NamedOperator kOfWholeNumbers[] = {
    {"+", exact<std::plus<>>, mu::prADD_SUB},          {"-", exact<std::minus<>>, mu::prADD_SUB},
    {"*", exact<std::multiplies<>>, mu::prMUL_DIV},    {"/", quotient_of, mu::prMUL_DIV},
    {"<", result_of<std::less<>>, mu::prCMP},          {"<=", result_of<std::less_equal<>>, mu::prCMP},
    {">", result_of<std::greater<>>, mu::prCMP},       {">=", result_of<std::greater_equal<>>, mu::prCMP},
    {"==", result_of<std::equal_to<>>, mu::prCMP},     {"!=", result_of<std::not_equal_to<>>, mu::prCMP},
    {"&&", result_of<std::logical_and<>>, mu::prLAND}, {"||", result_of<std::logical_or<>>, mu::prLOR}};

// The quotient of whole numbers below 2^53 never rounds to a whole number unless it is one, so ceil() is exact.
double ceil_div(double a, double b) { return std::ceil(a / b); }
// For swizzled layouts. Only whole numbers from 0 to 2^53 - 1.
double bit_xor(double a, double b) {
  if (!(a >= 0 && a <= kLargest && b >= 0 && b <= kLargest)) return std::nan("");
  return double(static_cast<uint64_t>(a) ^ static_cast<uint64_t>(b));
}
double remainder_of(double a, double b) { return std::fmod(a, b); }
double least(const double* values, int count) { return *std::min_element(values, values + count); }
double greatest(const double* values, int count) { return *std::max_element(values, values + count); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// The additional functions of an expression over a tensor's elements (docs/writing-a-kernel.md lists them).
struct NamedFunction {
  const char* name;
  double (*function)(double);
};
constexpr NamedFunction kOfElements[] = {
    {"sqrt", std::sqrt}, {"exp", std::exp},   {"ln", std::log},    {"log2", std::log2}, {"log10", std::log10},
    {"sin", std::sin},   {"cos", std::cos},   {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos},
    {"atan", std::atan}, {"sinh", std::sinh}, {"cosh", std::cosh}, {"tanh", std::tanh}, {"abs", std::fabs},
    {"erf", std::erf},   {"rint", std::rint}, {"sign", sign}};

// An expression that is parsed once for a list of names and then evaluated with their values. Parsing costs about fifty
// times as much as evaluating, and a window evaluates the same expressions at every move of a knob.
struct Parsed {
  mu::Parser parser;
  std::vector<double> values;  // in the names' order; the parser holds pointers to them
};

// muParser has no %, and offers much that a manifest must not use: its functions and constants are removed, and = and ^
// are refused before parsing.
enum class Numbers { whole, real };
void parse(Parsed& parsed, const std::string& expression, const std::vector<std::string>& names, Numbers numbers) {
  parsed.parser.ClearFun();
  parsed.parser.ClearConst();
  parsed.parser.DefineFun("min", least, true);
  parsed.parser.DefineFun("max", greatest, true);
  parsed.parser.DefineFun("ceil_div", ceil_div, true);
  parsed.parser.DefineFun("bit_xor", bit_xor, true);
  parsed.parser.DefineOprt("%", remainder_of, mu::prMUL_DIV, mu::oaLEFT, true);
  if (numbers == Numbers::whole) {
    parsed.parser.EnableBuiltInOprt(false);
    // Not optimised: an overflow in a part that is folded at parsing would be flagged only once.
    for (const NamedOperator& one : kOfWholeNumbers)
      parsed.parser.DefineOprt(one.name, one.function, one.priority, mu::oaLEFT, false);
  }
  parsed.values.resize(names.size(), 1);
  for (size_t at = 0; at < names.size(); ++at) parsed.parser.DefineVar(names[at], &parsed.values[at]);
  parsed.parser.SetExpr(expression);
}

// Returns the expression's `count` results. A parser that threw, even std::bad_alloc, is not kept: muParser (2.3.3)
// crashes when it is used again.
const double* results_of(const std::string& expression, const Variables& variables, Numbers numbers, int& count) {
  constexpr size_t kMost = 1000;
  thread_local std::unordered_map<std::string, Parsed> cache;
  std::string key = (numbers == Numbers::whole ? "" : "real\n") + expression;
  for (const auto& [name, unused] : variables) (key += '\n') += name;
  if (cache.size() >= kMost) cache.clear();
  const auto [found, fresh] = cache.try_emplace(std::move(key));
  try {
    if (fresh) {
      std::vector<std::string> names;
      for (const auto& [name, unused] : variables) names.push_back(name);
      parse(found->second, expression, names, numbers);
    }
    size_t next = 0;
    for (const auto& [unused, value] : variables) found->second.values[next++] = value;
    return found->second.parser.Eval(count);
  } catch (...) {
    cache.erase(found);
    throw;
  }
}

Failure broken(const std::string& where, const std::string& expression, const std::string& reason) {
  constexpr size_t kShown = 200;
  const std::string shown = one_line(std::string_view(expression).substr(0, kShown));
  return Failure{
      Stage::catalog, fmt::format("{}: \"{}{}\" {}", where, shown, expression.size() > kShown ? "…" : "", reason),
      "Expressions know + - * / % ( ) comparisons, && ||, ?:, min, max, ceil_div, bit_xor, the knobs and the sizes."};
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

// An integer that a double cannot represent would silently become a neighbouring one.
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

// The character or name that must not reach muParser; empty if there is none.
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

struct ElementExpression::Parts : Parsed {};

ElementExpression::ElementExpression(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ElementExpression::ElementExpression(ElementExpression&&) noexcept = default;
ElementExpression& ElementExpression::operator=(ElementExpression&&) noexcept = default;
ElementExpression::~ElementExpression() = default;

Result<ElementExpression> ElementExpression::parse(const std::string& expression, const std::vector<std::string>& names,
                                                   const std::string& where) {
  if (const std::string refusal = refusal_of(expression); !refusal.empty())
    return fail(broken(where, expression, refusal));
  try {
    auto parts = std::make_unique<Parts>();
    attnscope::parse(*parts, expression, names, Numbers::real);
    for (const NamedFunction& one : kOfElements) parts->parser.DefineFun(one.name, one.function, true);
    int results = 0;
    parts->parser.Eval(results);
    if (results != 1) return fail(broken(where, expression, "holds more than one expression"));
    return ElementExpression(std::move(parts));
  } catch (const mu::Parser::exception_type& error) {
    return fail(broken(where, expression, "cannot be evaluated: " + error.GetMsg()));
  }
}

double ElementExpression::operator()(std::span<const double> values) const {
  std::copy_n(values.begin(), std::min(values.size(), parts_->values.size()), parts_->values.begin());
  try {
    return parts_->parser.Eval();
  } catch (const mu::Parser::exception_type&) {
    return std::nan("");
  }
}

}  // namespace attnscope
