#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::ui {

// One sentence for each technical word, from assets/glossary.md, which has lines "- **word**: sentence"; "**a, b**"
// gives two words the same sentence.
class Glossary {
 public:
  static Result<Glossary> load(const std::filesystem::path& file);
  static Glossary parse(std::string_view markdown);

  // Empty if the glossary lacks the word. Case does not matter.
  const std::string& find(std::string_view word) const;
  // The words of the text that the glossary explains, spelled and ordered as in the text. A word and its plural, or two
  // words with one sentence, count once. Single letters such as "A", and common words such as "other", are left out.
  struct Found {
    std::string written, word;
  };
  std::vector<Found> words_in(std::string_view text) const;
  const std::map<std::string, std::string>& entries() const { return entries_; }

 private:
  std::map<std::string, std::string> entries_;  // lower-case word → sentence
};

}  // namespace attnscope::ui
