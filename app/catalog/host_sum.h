#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attnscope::catalog {

// A sum of parts and a number, as a manifest's expression; each part is a text that binds at least as tightly as *.
struct HostSum {
  std::vector<std::pair<bool, std::string>> parts;  // subtracted?
  int64_t number = 0;
  int64_t now = 0;  // the value of the whole sum

  static HostSum whole(int64_t value) { return {{}, value, value}; }
  static HostSum of(std::string part, int64_t now) { return {{{false, std::move(part)}}, 0, now}; }

  bool constant() const { return parts.empty(); }
  std::string text() const;    // "n + 3"
  std::string factor() const;  // as an operand of * / %: "(n + 3)"
  // As the right operand: a part that ends in a product or quotient needs brackets there.
  std::string right_side() const;
};

}  // namespace attnscope::catalog
