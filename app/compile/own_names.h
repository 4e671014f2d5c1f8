#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace attnscope::compile {

// A name that a source declares. A macro with that name would replace it and end in a syntax error.
struct OwnName {
  int64_t line = 0;  // of the first declaration, from 1
  // The value in `constexpr int NAME = 64;`; empty for others, such as a template's or a function's parameter.
  std::optional<int64_t> value;
};

// Those of `names` that the source declares. A name in a preprocessor condition (`#ifndef NAME`) is left out, because
// the source expects the macro there.
std::map<std::string, OwnName> own_names(std::string_view source, const std::set<std::string>& names);

}  // namespace attnscope::compile
