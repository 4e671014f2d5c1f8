#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace attnscope::catalog {

// What the names in an expression of host code stand for.
struct HostNames {
  // A knob or size, which stays as it is, by its default.
  std::function<std::optional<int64_t>(const std::string& name)> kept;
  // The expression that a constant or macro stands for; empty: it is none.
  std::function<std::string(const std::string& name)> meaning;
  std::function<std::optional<int64_t>(const std::string& type)> bytes_of;  // sizeof
};

struct HostValue {
  std::string text;       // in the manifest's terms: kept names, numbers, + - * / %, min, max, ceil_div
  int64_t now = 0;        // at the kept names' defaults
  bool constant = false;  // no kept name in it
};

// A whole-number expression of C++ as the manifest's expressions say it: constants put in and folded, casts left out,
// "(n + B - 1) / B", "ceil((float)n / B)" and the usual helpers (cdiv, DIVUP, iDivUp, ceil_div) as ceil_div(n, B),
// shifts as products and quotients, sizeof as its number. A quotient that is not whole at the defaults is cut off as
// C++ does. Empty: a name, call or operator in it is not known.
std::optional<HostValue> host_value(const std::string& expression, const HostNames& names);

}  // namespace attnscope::catalog
