#pragma once
#include <string_view>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::explain {

// True if the text contains `word` as a whole word.
bool names(std::string_view text, std::string_view word);

// True if the text adds the word to something: "head_dim + PAD".
bool adds(std::string_view text, std::string_view word);

// How often code uses the word, without preprocessor lines that define a default for it.
int uses(const std::vector<CppToken>& tokens, std::string_view word);

}  // namespace attnscope::explain
