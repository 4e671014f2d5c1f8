#pragma once
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace attnscope::fuzz {

inline const std::filesystem::path kTree = ATTNSCOPE_SOURCE_DIR;

// Ends the program, as a fuzzer expects of a fault, unless it holds.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace attnscope::fuzz
