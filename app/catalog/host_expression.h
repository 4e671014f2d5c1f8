#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace attnscope::catalog {

// What the names in an expression of host code mean.
struct HostNames {
  // The default of a knob or size; such a name stays in the expression.
  std::function<std::optional<int64_t>(const std::string& name)> kept;
  // The expression that a constant or macro stands for; empty if the name is neither.
  std::function<std::string(const std::string& name)> meaning;
  std::function<std::optional<int64_t>(const std::string& type)> bytes_of;  // sizeof
};

struct HostValue {
  std::string text;       // as in a manifest: kept names, numbers, + - * / %, min, max, ceil_div
  int64_t now = 0;        // its value at the kept names' defaults
  bool constant = false;  // it contains no kept name
};

// An integer expression of C++ as a manifest's expression: constants inserted and folded, casts dropped, "(n + B - 1) /
// B", "ceil((float)n / B)" and the usual helpers (cdiv, DIVUP, iDivUp, ceil_div) as ceil_div(n, B), shifts as products
// and quotients, sizeof as its number. A quotient that is not whole at the defaults is truncated as in C++. Empty: it
// contains an unknown name, call or operator.
std::optional<HostValue> host_value(const std::string& expression, const HostNames& names);

}  // namespace attnscope::catalog
