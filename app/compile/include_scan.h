#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::compile {

// What an #include names: "name", looked for beside the including file first, or <name>.
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

// Every name that `source` may include or ask for with __has_include, whatever its conditions say: both sides of every
// #if, under #if 0 too. Rather one too many than one too few.
ScannedIncludes scan_includes(std::string_view source);

// Whether `name` leads out of the folders it is looked for in: an absolute path, or one with a ".." in it.
bool leads_outside(const std::string& name);

}  // namespace attnscope::compile
