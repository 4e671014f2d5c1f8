#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// The tokens [begin, end) that the preprocessor keeps where these macros are defined, without its lines. It reads #if,
// #ifdef, #ifndef, #elif, #else and #endif with names, whole numbers, defined(), !, comparisons, && and ||. What a
// condition has otherwise holds.
std::vector<CppToken> compiled_tokens(const std::vector<CppToken>& tokens, size_t begin, size_t end,
                                      const std::map<std::string, std::string>& macros);

}  // namespace attnscope::catalog
