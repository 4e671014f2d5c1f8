#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "catalog/import.h"

namespace attnscope::catalog {

// The size that is used if no parameter gives the buffers' sizes.
inline constexpr const char* kStandInSize = "elements";
// Adds the note that it is a guess.
void guess_stand_in(int64_t value, Imported& imported);
// Removes it from a manifest, with its note, if no expression uses it because every length is known.
void drop_stand_in(nlohmann::ordered_json& manifest, Imported& imported);

}  // namespace attnscope::catalog
