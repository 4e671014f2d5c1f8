#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace attnscope::catalog {

// An expression of the host code and where it stands: a name means something else elsewhere.
struct HostText {
  std::string text;
  size_t at = SIZE_MAX;  // bytes from the source's start
};

// A name that stays in a manifest's expression.
struct KeptName {
  std::string name;  // as the manifest has it
  int64_t now = 0;   // its default
};

// What the names in an expression of host code mean where they are used.
struct HostNames {
  // Of a knob or size.
  std::function<std::optional<KeptName>(const std::string& name, size_t at)> kept;
  // The expression that a constant or macro stands for; empty if the name is neither.
  std::function<HostText(const std::string& name, size_t at)> meaning;
  // The same of x, y or z of a dim3.
  std::function<HostText(const std::string& name, size_t axis, size_t at)> member;
  std::function<std::optional<int64_t>(const std::string& type)> bytes_of;  // sizeof
};

struct HostValue {
  std::string text;       // as in a manifest: kept names, numbers, + - * / %, min, max, ceil_div
  int64_t now = 0;        // its value at the kept names' defaults
  bool constant = false;  // it contains no kept name
};

// An integer expression of C++ as a manifest's expression: constants inserted and folded, casts dropped, "(n + B - 1) /
// B", "ceil((float)n / B)" and the usual helpers (cdiv, DIVUP, iDivUp, ceil_div) as ceil_div(n, B), shifts as products
// and quotients, sizeof as its number, comparisons and ?: as they are, or decided. A quotient that is not whole at the
// defaults is truncated as in C++. Empty: it contains an unknown name, call or operator. `unknown`, if given, gets the
// first name that has no such value.
std::optional<HostValue> host_value(const HostText& expression, const HostNames& names, std::string* unknown = nullptr);

}  // namespace attnscope::catalog
