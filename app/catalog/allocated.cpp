#include "catalog/allocated.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "catalog/import_values.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostFactors = 5;  // of a shape: a manifest accepts 8 dimensions
constexpr int kMostCallers = 8;     // that are followed

// d_x and h_x give x.
std::string_view without_side(std::string_view name) {
  for (const std::string_view side : {"d_", "h_", "dev_", "host_", "device_"})
    if (name.starts_with(side)) return name.substr(side.size());
  return name;
}

// n * sizeof(d_x[0]) and n * sizeof(*h_x): of the elements of d_x.
std::string with_element_size(const std::string& bytes, std::string_view pointer, int64_t each) {
  const std::vector<CppToken> tokens = cpp_tokens(bytes);
  const auto is = [&](size_t i, std::string_view text) { return i < tokens.size() && tokens[i].is(text); };
  for (size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (!is(i, "sizeof") || !is(i + 1, "(")) continue;
    const bool element = is(i + 3, "[") && is(i + 4, "0") && is(i + 5, "]") && is(i + 6, ")");
    const bool target = is(i + 2, "*") && is(i + 4, ")");
    const std::string_view name = (element || target) ? tokens[element ? i + 2 : i + 3].text : std::string_view();
    if (name.empty() || without_side(name) != without_side(pointer)) continue;
    const size_t last = i + (element ? 6 : 4);
    return bytes.substr(0, tokens[i].at) + std::to_string(each) + bytes.substr(tokens[last].end());
  }
  return bytes;
}

bool is_cleared(const HostSource& host, const HostText& pointer) {
  const HostFunction* const function = host.function_at(pointer.at);
  const auto clears = [&](const HostSource::Call& call) {
    return call.at < pointer.at && host.function_at(call.at) == function && call.arguments.size() > 2 &&
           pointer_name(call.arguments[0]) == pointer.text && call.arguments[1] == "0";
  };
  return std::ranges::any_of(host.calls_to("cudaMemset"), clears) ||
         std::ranges::any_of(host.calls_to("cudaMemsetAsync"), clears);
}

// torch::full({n}, -INFINITY, options): -inf
nlohmann::ordered_json torch_contents(const std::string& text) {
  const std::vector<CppToken> tokens = cpp_tokens(text);
  const auto is = [&](size_t i, std::string_view word) { return i < tokens.size() && tokens[i].is(word); };
  if (!(is(0, "torch") || is(0, "at")) || !is(1, ":") || !is(2, ":") || !is(4, "(")) return nullptr;
  const std::string_view made = tokens[3].text;
  if (made == "zeros" || made == "zeros_like") return "zeros";
  if (made == "ones" || made == "ones_like") return "ones";
  if (made != "full" && made != "full_like") return nullptr;
  const std::vector<std::string> arguments = parts_in(tokens, CppBrackets(tokens), 4);
  if (arguments.size() < 2) return nullptr;
  const std::string& value = arguments[1];
  if (value.find("INFINITY") != std::string::npos || value.find("infinity()") != std::string::npos)
    return {{"fill", value.starts_with("-") ? "-inf" : "inf"}};
  const auto number = literal_value(value, ElementType::f64);
  return number ? nlohmann::ordered_json{{"fill", *number}} : nullptr;
}

}  // namespace

nlohmann::ordered_json host_contents(const HostSource& host, const HostScope& scope, HostText pointer) {
  for (int depth = 0; depth < kMostCallers && !pointer.text.empty(); ++depth) {
    if (is_cleared(host, pointer)) return "zeros";
    if (auto made = torch_contents(scope.meaning(pointer.text, pointer.at).text); !made.is_null()) return made;
    const HostText passed = host.argument(pointer.text, pointer.at);
    pointer = {pointer_name(passed.text), passed.at};
  }
  return nullptr;
}

std::string allocated_elements(const HostSource& host, const HostScope& scope, const HostText& pointer, int64_t each,
                               bool its_own) {
  HostText bytes = host.followed_allocation(pointer.text, pointer.at);
  if (bytes.text.empty()) return {};
  scope.take_guessed();
  if (its_own) bytes.text = with_element_size(bytes.text, pointer.text, each);
  bytes.text = fmt::format("({}) / {}", bytes.text, each);
  std::string formula = scope.in_terms(bytes);
  const std::string tail = fmt::format(" * {0} / {0}", each);
  if (formula.ends_with(tail)) formula.resize(formula.size() - tail.size());
  const std::string head = fmt::format("{} * ", each), quotient = fmt::format(" / {}", each);
  if (formula.starts_with(head) && formula.ends_with(quotient))
    formula = formula.substr(head.size(), formula.size() - head.size() - quotient.size());
  return scope.take_guessed() || formula == "0" ? "" : formula;
}

std::vector<std::string> factors_of(const std::string& formula) {
  std::vector<std::string> factors;
  bool factor_next = true;
  for (const CppToken& token : cpp_tokens(formula)) {
    const bool factor = token.kind == CppToken::Kind::word || token.kind == CppToken::Kind::number;
    if (factor != factor_next || (!factor && !token.is("*"))) return {formula};
    if (factor) factors.emplace_back(token.text);
    factor_next = !factor;
  }
  if (factor_next || factors.size() > kMostFactors) return {formula};
  return factors;
}

}  // namespace attnscope::catalog
