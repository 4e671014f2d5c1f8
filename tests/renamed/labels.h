#pragma once
#include <string>
#include <string_view>

namespace attnscope::testing {

// Whether label() gives other words, and how often it has.
inline bool renamed = false;
inline size_t renamings = 0;

// A text with its renamed labels as they were.
std::string with_old_labels(std::string text);

}  // namespace attnscope::testing
