#include "catalog/allocated.h"

#include <fmt/format.h>

namespace attnscope::catalog {
namespace {

constexpr size_t kMostFactors = 5;  // of a shape: a manifest accepts 8 dimensions

}  // namespace

std::string allocated_elements(const HostSource& host, const HostScope& scope, const HostText& pointer, int64_t each) {
  HostText bytes = host.followed_allocation(pointer.text, pointer.at);
  if (bytes.text.empty()) return {};
  scope.take_guessed();
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
