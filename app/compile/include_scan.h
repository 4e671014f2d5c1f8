#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::compile {

// The name in an #include: "name", searched beside the including file first, or <name>.
struct IncludedName {
  std::string name;
  bool quoted = false;
  size_t line = 0;  // from 1
};

// #include HEADER or #include HEADER(argument): a macro gives the name.
struct ComputedName {
  std::string macro, argument;
  size_t line = 0;
};

// #define HEADER <name>, or #define HEADER(parameter) <folder/parameter>.
struct HeaderMacro {
  std::string macro, parameter;
  IncludedName body;
};

struct ScannedIncludes {
  std::vector<IncludedName> names;
  std::vector<ComputedName> computed;
  std::vector<HeaderMacro> macros;
};

// Every name that `source` may include or pass to __has_include, whatever its conditions say: both sides of every #if,
// even under #if 0. A name too many does no harm; a missing one would.
ScannedIncludes scan_includes(std::string_view source);

// True if `name` leads out of the folders that are searched: an absolute path, or one with ".." in it.
bool leads_outside(const std::string& name);

}  // namespace attnscope::compile
