#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "catalog/import.h"

namespace attnscope::catalog {

// The size of buffers where no parameter says any.
inline constexpr const char* kStandInSize = "elements";
// Says that it is a guess.
void guess_stand_in(int64_t value, Imported& imported);
// Takes it out of a manifest, and what was said of it, if no expression names it: every length is known.
void drop_stand_in(nlohmann::ordered_json& manifest, Imported& imported);

}  // namespace attnscope::catalog
