#pragma once
#include <string>
#include <string_view>

#include "core/json_fwd.h"
#include "core/result.h"

namespace attnscope::report {

// A YAML text as JSON: one document of mappings, lists and scalars, at most 32 deep. A plain scalar is null, true,
// false or a decimal number as YAML 1.2's core schema has them, and a text otherwise; a quoted one is a text. Anchors,
// aliases, tags, keys that are no texts and keys that stand twice are Failures (Stage::input), as is what is not YAML;
// each names `where` and the line.
Result<Json> json_from_yaml(std::string_view text, const std::string& where);

}  // namespace attnscope::report
