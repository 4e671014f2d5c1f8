#pragma once
#include <cstddef>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

inline constexpr size_t kMostAtFirst = size_t{512} << 20;  // bytes

// Halves sizes of an imported kernel until its buffers take at most kMostAtFirst bytes, and says so: the host code of a
// benchmark may have gigabytes. Only sizes that the grid follows, since they leave each CTA as it is.
void lower_sizes(Imported& imported, const std::string& source_name, const std::string& source);

}  // namespace attnscope::catalog
