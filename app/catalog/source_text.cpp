#include "catalog/source_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace attnscope::catalog {

std::string text_of(const std::vector<CppToken>& tokens, size_t begin, size_t end) {
  std::string text;
  if (end > begin + kMostTextTokens) return text;
  for (size_t i = begin; i < end && i < tokens.size(); ++i) {
    if (tokens[i].kind == CppToken::Kind::line) continue;
    if (text.size() + tokens[i].text.size() > kLongestText) return {};
    const bool words =
        !text.empty() && tokens[i].kind != CppToken::Kind::mark && tokens[i - 1].kind != CppToken::Kind::mark;
    text += (words ? " " : "") + std::string(tokens[i].text);
  }
  return text;
}

bool is_kernel_attribute(const CppToken& word) {
  constexpr std::array<std::string_view, 5> kAll{"__launch_bounds__", "__cluster_dims__", "__maxnreg__",
                                                 "__block_size__", "__attribute__"};
  return std::ranges::any_of(kAll, [&](std::string_view one) { return word.is(one); });
}

std::vector<std::pair<size_t, size_t>> parts_of(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                                size_t begin, size_t end) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t start = begin;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))
      i = brackets.closing(i);
    else if (tokens[i].is("<") && brackets.behind_angles(i) <= end)
      i = brackets.behind_angles(i) - 1;
    else if (tokens[i].is(","))
      parts.emplace_back(std::exchange(start, i + 1), i);
  }
  if (start < end) parts.emplace_back(start, end);
  return parts;
}

}  // namespace attnscope::catalog
