#pragma once
#include <cstdint>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

// Makes a buffer with a guessed length at least `times` as long, by a power of two, in the manifest and in the notes.
// Returns false if its length is not a guess, or is already too many times the guess.
bool lengthen(Imported& imported, const std::string& buffer, int64_t times);

}  // namespace attnscope::catalog
