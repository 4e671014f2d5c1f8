#pragma once
#include <string_view>

namespace attnscope::explain {

// True if the text contains `word` as a whole word.
bool names(std::string_view text, std::string_view word);

// True if the text adds the word to something: "head_dim + PAD".
bool adds(std::string_view text, std::string_view word);

}  // namespace attnscope::explain
