#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

inline constexpr size_t kMostAtFirst = size_t{512} << 20;  // bytes

inline constexpr int64_t kMostSharedAtFirst = 99 << 10;  // bytes of a CTA: what an sm_89 device gives

// Halves sizes of an imported kernel until its buffers take at most kMostAtFirst bytes, and says so: the host code of a
// benchmark may have gigabytes. Only sizes that the grid follows, since they leave each CTA as it is; but if dynamic
// shared memory takes more than kMostSharedAtFirst, those that it follows.
void lower_sizes(Imported& imported, const std::string& source_name, const std::string& source);

}  // namespace attnscope::catalog
