#pragma once
// The only header that chooses the JSON type of the program.
#include <nlohmann/json_fwd.hpp>

namespace attnscope {
using Json = nlohmann::json;  // object keys are sorted, so that dump() is canonical
}
