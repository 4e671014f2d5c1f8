#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "catalog/import.h"

namespace attnscope::catalog {

inline constexpr size_t kMostAtFirst = size_t{512} << 20;  // bytes

inline constexpr int64_t kMostSharedAtFirst = 99 << 10;  // bytes per CTA, as an sm_89 device has

// Halves sizes of an imported kernel until its buffers take at most kMostAtFirst bytes, and notes it: the host code of
// a benchmark may use gigabytes. Only sizes that the grid follows are halved, because they leave each CTA unchanged; if
// dynamic shared memory takes more than kMostSharedAtFirst, the sizes that it follows are halved too.
void lower_sizes(Imported& imported, const std::string& source_name, const std::string& source);

}  // namespace attnscope::catalog
