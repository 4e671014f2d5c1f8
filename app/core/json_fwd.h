#pragma once
// The one place that says which JSON type the program uses.
#include <nlohmann/json_fwd.hpp>

namespace attnscope {
using Json = nlohmann::json;  // object keys are sorted: dumping one is canonical
}
