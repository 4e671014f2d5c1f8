#pragma once
#include <cstdint>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

// Makes a buffer with a guessed length at least `times` as long, by a power of two, in the manifest and in the notes.
// Returns false if its length is not a guess, or is already too many times the guess.
bool lengthen(Imported& imported, const std::string& buffer, int64_t times);

// Makes the largest size of a kernel that takes too long a quarter of what it is, and says so. False: none is large.
bool lower_largest(Imported& imported);

}  // namespace attnscope::catalog
