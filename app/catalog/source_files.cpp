#include "catalog/source_files.h"

#include <algorithm>
#include <iterator>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

SourceFiles::SourceFiles(std::string_view text) {
  for (const CppToken& token : cpp_tokens(text)) {
    if (token.kind != CppToken::Kind::line) continue;
    const std::vector<CppToken> words = cpp_tokens(token.text.substr(1));
    if (words.size() < 3 || !words[0].is("line") || words[2].kind != CppToken::Kind::text) continue;
    begins_.emplace_back(token.at, words[2].text);
  }
}

std::string_view SourceFiles::file_at(size_t at) const {
  const auto behind = std::ranges::upper_bound(begins_, at, {}, &std::pair<size_t, std::string>::first);
  return behind == begins_.begin() ? std::string_view() : std::string_view(std::prev(behind)->second);
}

}  // namespace attnscope::catalog
