#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

enum class NumberKind {
  as_written,  // 7 is whole, 7.0f is not
  whole,
  floating,
  unknown  // the name's type is not read: 7 may be 7.0
};

// An expression of the host code and its position, because a name may mean something else elsewhere.
struct HostText {
  std::string text;
  size_t at = SIZE_MAX;                      // byte offset in the source
  NumberKind kind = NumberKind::as_written;  // of the name that has this value
};

// A name that stays in a manifest's expression.
struct KeptName {
  std::string name;  // in the manifest
  int64_t now = 0;   // its default
};

// An operand, or several of a product, that a launch passes for a size.
struct KeptProduct {
  KeptName size;      // `now`: the value of the operands
  int64_t times = 1;  // they are so many times the size
  size_t tokens = 0;
};

// The meaning of names in an expression of host code at the place of use.
struct HostNames {
  // For a knob or size.
  std::function<std::optional<KeptName>(const std::string& name, size_t at)> kept;
  // For the first operands of `tokens`; empty if they are none. `first`: nothing is multiplied by them.
  std::function<std::optional<KeptProduct>(std::span<const CppToken> tokens, size_t at, bool first)> product = {};
  // The expression of a constant or macro; empty if the name is neither.
  std::function<HostText(const std::string& name, size_t at)> meaning;
  // The same for x, y or z of a dim3.
  std::function<HostText(const std::string& name, size_t axis, size_t at)> member;
  std::function<std::optional<int64_t>(const std::string& type)> bytes_of;  // sizeof
  // HostSource::returned_by().
  std::function<HostText(const std::string& name)> returned;
};

struct HostValue {
  std::string text;       // as in a manifest: kept names, numbers, + - * / %, min, max, ceil_div
  int64_t now = 0;        // its value with the kept names' defaults
  bool constant = false;  // it contains no kept name
};

// Converts an integer expression of C++ to a manifest's expression: constants are inserted and folded, casts dropped;
// "(n + B - 1) / B", "ceil((float)n / B)" and the usual helpers (cdiv, DIVUP, iDivUp, ceil_div) become ceil_div(n, B),
// shifts products and quotients, sizeof its number; comparisons and ?: stay or are decided. A quotient that is not
// whole at the defaults is truncated as in C++. Empty: it contains an unknown name, call or operator. `unknown`, if
// given, gets the first name without a value.
std::optional<HostValue> host_value(const HostText& expression, const HostNames& names, std::string* unknown = nullptr);

}  // namespace attnscope::catalog
