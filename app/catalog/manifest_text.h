#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope::catalog {

// A manifest laid out as a person would write it: one line for each key, and for each element of a list of lists or
// objects.
std::string manifest_text(const nlohmann::ordered_json& json);

// How a note says a buffer's shape: `["rows", "4"] elements`.
std::string elements_of(const nlohmann::ordered_json& shape);

// How a note goes on after "starts": "random", "as zeros", "as -inf".
std::string start_of(const nlohmann::ordered_json& init);

}  // namespace attnscope::catalog
