#pragma once
#include <cstdint>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

// Makes a buffer whose length is a guess at least `times` as long as it is, by a power of two, in the manifest and in
// what is said of it. False: its length is no guess, or is already too many times the guess.
bool lengthen(Imported& imported, const std::string& buffer, int64_t times);

}  // namespace attnscope::catalog
