#pragma once
#include <string_view>

namespace attnscope::explain {

// Whether `word` stands in the text as a whole word.
bool names(std::string_view text, std::string_view word);

// Whether the text adds the word to something: "head_dim + PAD".
bool adds(std::string_view text, std::string_view word);

}  // namespace attnscope::explain
