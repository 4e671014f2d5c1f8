#include "explain/words.h"

#include <cctype>

namespace attnscope::explain {
namespace {

// Calls visit(at) for each occurrence of the word; returns true as soon as it does.
template <class Visit>
bool any_place(std::string_view text, std::string_view word, Visit visit) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
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

int uses(const std::vector<CppToken>& tokens, std::string_view word) {
  int count = 0;
  for (const CppToken& token : tokens) {
    if (token.kind == CppToken::Kind::word) count += token.text == word;
    if (token.kind != CppToken::Kind::line || !names(token.text, word)) continue;
    const bool sets = token.text.find("ifndef") != token.text.npos || token.text.find("undef") != token.text.npos ||
                      names(token.text, "define " + std::string(word));
    count += !sets;
  }
  return count;
}

}  // namespace attnscope::explain
