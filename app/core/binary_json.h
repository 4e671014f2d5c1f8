#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/json_fwd.h"

namespace attnscope {

// Bytes as a JSON value. Json::binary() sets the value's type before its bytes: if memory runs out in between, the
// destructor follows a null pointer.
inline Json binary_json(std::vector<uint8_t> bytes) { return Json(Json::binary_t(std::move(bytes))); }

}  // namespace attnscope
