#include "catalog/allocated.h"

#include <fmt/format.h>

#include <string_view>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostFactors = 5;  // of a shape: a manifest accepts 8 dimensions

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

}  // namespace

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
