#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace attnscope::compile {

// A name that a source declares: a macro of that name would replace it and end in a syntax error.
struct OwnName {
  int64_t line = 0;              // from 1, of the first declaration
  std::optional<int64_t> value;  // of `constexpr int NAME = 64;`; empty: a template's or a function's parameter, …
};

// Which of `names` the source declares. A name that a condition of the preprocessor mentions (`#ifndef NAME`) is not
// one of them: there the source expects the macro.
std::map<std::string, OwnName> own_names(std::string_view source, const std::set<std::string>& names);

}  // namespace attnscope::compile
