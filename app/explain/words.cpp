#include "explain/words.h"

#include <cctype>
#include <unordered_set>

namespace attnscope::explain {
namespace {

bool is_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Calls visit(at) for each occurrence of the word; returns true as soon as it does.
template <class Visit>
bool any_place(std::string_view text, std::string_view word, Visit visit) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool whole = (at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]));
    if (whole && visit(at)) return true;
  }
  return false;
}

}  // namespace

bool names(std::string_view text, std::string_view word) {
  return any_place(text, word, [](size_t) { return true; });
}

bool adds(std::string_view text, std::string_view word) {
  return any_place(text, word, [&](size_t at) {
    const size_t before = at == 0 ? text.npos : text.find_last_not_of(' ', at - 1);
    return before != text.npos && text[before] == '+';
  });
}

Uses::Uses(const std::vector<CppToken>& tokens) {
  for (const CppToken& token : tokens) {
    if (token.kind == CppToken::Kind::word) ++counts_[token.text];
    if (token.kind == CppToken::Kind::line) add_line(token.text);
  }
}

// A preprocessor line uses a word once, however often it names it.
void Uses::add_line(std::string_view text) {
  constexpr std::string_view kDefine = "define ";
  if (text.find("ifndef") != text.npos || text.find("undef") != text.npos) return;
  std::unordered_set<std::string_view> used, defined;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end == at) {
      ++at;
      continue;
    }
    const bool defines =
        text.substr(0, at).ends_with(kDefine) && (at == kDefine.size() || !is_part(text[at - kDefine.size() - 1]));
    (defines ? defined : used).insert(text.substr(at, end - at));
    at = end;
  }
  for (const std::string_view word : used)
    if (!defined.contains(word)) ++counts_[word];
}

int Uses::of(std::string_view word) const {
  const auto found = counts_.find(word);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace attnscope::explain
