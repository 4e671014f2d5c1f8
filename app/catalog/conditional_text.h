#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// The preprocessor's open conditions. It reads #if, #ifdef, #ifndef, #elif, #else and #endif with names, whole numbers,
// defined(), !, comparisons, && and ||. Any other condition counts as true.
class OpenConditions {
 public:
  // The line of a token, without its #, and the macros that are defined there.
  void read(std::string_view line, const std::map<std::string, std::string>& macros);
  // True where the text is compiled.
  bool kept() const;

 private:
  struct Branch {
    bool kept = true;   // its text is compiled, if the text around it is
    bool taken = true;  // this one, or one before it
  };
  std::vector<Branch> open_;
};

// The tokens [begin, end) that the preprocessor keeps where these macros are defined, without its lines.
std::vector<CppToken> compiled_tokens(const std::vector<CppToken>& tokens, size_t begin, size_t end,
                                      const std::map<std::string, std::string>& macros);

// The text with spaces in place of what the preprocessor leaves out whatever is defined outside, so that bytes
// stay where they are: the #else of an #ifdef whose name the text itself defines before. Text under a plain #if 0 has
// no tokens anyway. A condition of names that it does not define, or that may be set from outside (`#ifndef X`,
// `#define X 1`), leaves nothing out.
std::string without_excluded(std::string text);

}  // namespace attnscope::catalog
