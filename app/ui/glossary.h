#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::ui {

// One sentence for every jargon word, from assets/glossary.md: one line "- **word**: sentence" each; "**a, b**" gives
// two words the same sentence.
class Glossary {
 public:
  static Result<Glossary> load(const std::filesystem::path& file);
  static Glossary parse(std::string_view markdown);

  // Empty if the glossary lacks the word; letter case does not matter.
  const std::string& find(std::string_view word) const;
  // The words of the text that it explains, as the text writes them, in the text's order; a word and its plural, and
  // two words of one sentence, count once. Letters such as "A", and words of every sentence such as "other", do not
  // count.
  struct Found {
    std::string written, word;
  };
  std::vector<Found> words_in(std::string_view text) const;
  const std::map<std::string, std::string>& entries() const { return entries_; }

 private:
  std::map<std::string, std::string> entries_;  // lower-case word → sentence
};

}  // namespace attnscope::ui
