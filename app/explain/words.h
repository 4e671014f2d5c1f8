#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::explain {

// True if the text contains `word` as a whole word.
bool names(std::string_view text, std::string_view word);

// True if the text adds the word to something: "head_dim + PAD".
bool adds(std::string_view text, std::string_view word);

// How often code uses each word, without preprocessor lines that define a default for it. One pass over the tokens,
// whose text must outlive this.
class Uses {
 public:
  explicit Uses(const std::vector<CppToken>& tokens);
  int of(std::string_view word) const;

 private:
  void add_line(std::string_view text);
  std::unordered_map<std::string_view, int> counts_;
};

}  // namespace attnscope::explain
