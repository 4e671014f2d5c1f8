#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attnscope::catalog {

// A sum of parts and a number, as a manifest's expression; each part is a text that binds at least as tightly as *.
struct HostSum {
  std::vector<std::pair<bool, std::string>> parts;  // subtracted?
  int64_t number = 0;
  int64_t now = 0;  // the value of the whole sum
  // Of a single part that is a product with a number: "n * 4" is 4 times n.
  int64_t scale = 1;
  std::string scaled = {};  // without the number, which is not 1; empty: there is none
  bool leads = false;       // the number comes first

  static HostSum whole(int64_t value) { return {{}, value, value}; }
  static HostSum of(std::string part, int64_t now) { return {{{false, std::move(part)}}, 0, now}; }
  static HostSum product_of(const HostSum& a, const HostSum& b, int64_t now);
  // "n * 3" of "n * 3 * 4" and of "4 * n * 3": without the factor 4 at an end; empty: there is none. `value`: that
  // without it.
  std::optional<HostSum> without_factor(int64_t factor, int64_t value) const;
  static HostSum product(int64_t scale, const std::string& scaled, bool leads, int64_t now);

  bool constant() const { return parts.empty(); }
  std::string text() const;    // "n + 3"
  std::string factor() const;  // as an operand of * / %: "(n + 3)"
  // As the right operand: a part that ends in a product or quotient needs brackets there.
  std::string right_side() const;
};

}  // namespace attnscope::catalog
