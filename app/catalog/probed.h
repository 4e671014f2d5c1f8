#pragma once
#include <cstdint>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

// Makes a buffer whose length is a guess at least `times` as long as it is, by a power of two, in the manifest and in
// what is said of it. False: its length is no guess, or is already too many times the guess.
bool lengthen(Imported& imported, const std::string& buffer, int64_t times);

// Makes the largest size of a kernel that takes too long a quarter of what it is, and says so. False: none is large.
bool lower_largest(Imported& imported);

}  // namespace attnscope::catalog
