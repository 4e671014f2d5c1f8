#include "catalog/host_sum.h"

#include <cstdlib>

namespace attnscope::catalog {

HostSum HostSum::product(int64_t scale, const std::string& scaled, bool leads, int64_t now) {
  if (scale == 1) return of(scaled, now);
  const std::string number = std::to_string(scale);
  HostSum product = of(leads ? number + " * " + scaled : scaled + " * " + number, now);
  product.scale = scale;
  product.scaled = scaled;
  product.leads = leads;
  return product;
}

HostSum HostSum::product_of(const HostSum& a, const HostSum& b, int64_t now) {
  constexpr int64_t kMostScale = int64_t{1} << 30;
  HostSum product = of(a.factor() + " * " + b.right_side(), now);
  const int64_t of_a = a.constant() ? a.number : a.scale, of_b = b.constant() ? b.number : b.scale;
  if (of_a < 1 || of_b < 1 || of_a > kMostScale || of_b > kMostScale || of_a * of_b == 1) return product;
  product.scale = of_a * of_b;
  const std::string left = a.scaled.empty() ? a.factor() : a.scaled;
  const std::string right = b.scaled.empty() ? b.right_side() : of(b.scaled, 0).right_side();
  product.scaled = a.constant() ? right : b.constant() ? left : left + " * " + right;
  product.leads = a.constant() || (a.scaled.empty() ? b.leads : a.leads);
  return product;
}

std::optional<HostSum> HostSum::without_factor(int64_t factor, int64_t value) const {
  const std::string whole = text(), begin = std::to_string(factor) + " * ", end = " * " + std::to_string(factor);
  const bool last = whole.ends_with(end);
  const bool first = whole.starts_with(begin) && whole.find_first_of("/%") == std::string::npos;
  if (scaled.empty() || (!last && !first) || scale % factor != 0) return std::nullopt;
  HostSum rest = of(last ? whole.substr(0, whole.size() - end.size()) : whole.substr(begin.size()), value);
  if (scale != factor) {
    rest.scale = scale / factor;
    rest.scaled = scaled;
    rest.leads = leads;
  }
  return rest;
}

std::string HostSum::text() const {
  std::string text;
  for (const auto& [minus, part] : parts) text += (text.empty() ? (minus ? "-" : "") : minus ? " - " : " + ") + part;
  if (text.empty()) return std::to_string(number);
  if (number != 0) text += (number < 0 ? " - " : " + ") + std::to_string(std::abs(number));
  return text;
}

std::string HostSum::factor() const {
  const bool single = parts.empty() ? number >= 0 : parts.size() == 1 && number == 0 && !parts[0].first;
  return single ? text() : "(" + text() + ")";
}

std::string HostSum::right_side() const {
  const std::string text = factor();
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && (c == '*' || c == '/' || c == '%')) return "(" + text + ")";
  }
  return text;
}

}  // namespace attnscope::catalog
