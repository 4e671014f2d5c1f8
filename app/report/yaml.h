#pragma once
#include <string>
#include <string_view>

#include "core/json_fwd.h"
#include "core/result.h"

namespace attnscope::report {

// Parses YAML as JSON: one document of mappings, lists and scalars, at most 32 deep. A plain scalar is null, true,
// false or a decimal number by YAML 1.2's core schema, and a text otherwise; a quoted one is a text. Anchors, aliases,
// tags, keys that are not texts, duplicate keys and anything that is not YAML are Failures (Stage::input), which name
// `where` and the line.
Result<Json> json_from_yaml(std::string_view text, const std::string& where);

}  // namespace attnscope::report
