#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope::catalog {

// A manifest as a person would lay it out: one line for each key, and for each element of a list of lists or
// objects.
std::string manifest_text(const nlohmann::ordered_json& json);

}  // namespace attnscope::catalog
