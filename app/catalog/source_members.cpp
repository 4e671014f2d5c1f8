#include "catalog/source_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "catalog/source_text.h"
#include "core/text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostMembers = 256;  // of a struct: a manifest cannot contain more
constexpr size_t kMostOfEnum = 1000;  // tokens

class MemberReader {
 public:
  MemberReader(const std::vector<CppToken>& tokens, const CppBrackets& brackets)
      : tokens_(tokens), brackets_(brackets) {}

  std::optional<std::vector<SourceParameter>> members(size_t open) const {
    std::vector<SourceParameter> found;
    const size_t close = brackets_.closing(open);
    for (size_t at = open + 1; at < close;) {
      if ((is(at, "public") || is(at, "private") || is(at, "protected")) && is(at + 1, ":")) at += 2;
      if (const size_t behind = behind_function(at, close); behind > at) {
        at = behind;
        continue;
      }
      if (is(at, "static") || is(at, "using") || is(at, "typedef") || is(at, "static_assert")) {  // take no place
        while (at < close && !is(at, ";")) at = is(at, "{") || is(at, "(") ? brackets_.closing(at) + 1 : at + 1;
        ++at;
        continue;
      }
      size_t end = at;
      while (end < close && !is(end, ";")) {
        const bool colon = is(end, ":") && !is(end - 1, ":") && !is(end + 1, ":");
        if (colon || is(end, "&")) return std::nullopt;  // a bit field, a reference
        if (is(end, "(") || is(end, "struct") || is(end, "virtual")) return std::nullopt;
        if (is(end, "[") && !length_at(end)) return std::nullopt;
        if (is(end, "{") && !word(end - 1)) return std::nullopt;
        end = is(end, "{") ? brackets_.closing(end) + 1 : end + 1;  // int n{};
      }
      const auto parts = parts_of(tokens_, brackets_, at, end);
      for (const auto& [begin, last] : parts) {
        size_t behind = begin;  // without its initialiser
        while (behind < last && !is(behind, "{") && !is(behind, "=")) ++behind;
        size_t name_end = begin;  // without the lengths of an array
        while (name_end < behind && !is(name_end, "[")) ++name_end;
        const auto elements = elements_at(name_end, behind);
        if (!elements) return std::nullopt;
        SourceParameter member = parameter_of(tokens_, brackets_, begin, name_end);
        member.given = behind < last;
        if (begin != at) {  // a further name of the same type
          member.name = text_of(tokens_, begin, name_end);
          member.type = found.back().type;
        }
        if (found.size() + *elements > kMostMembers) return std::nullopt;
        if (name_end == behind) {
          found.push_back(std::move(member));
          continue;
        }
        if (member.pointer) return std::nullopt;
        const std::string name = member.name;
        for (size_t i = 0; i < *elements; ++i) {
          member.name = fmt::format("{}[{}]", name, i);
          found.push_back(member);
        }
      }
      at = end + 1;
    }
    return found;
  }

  // Behind the member function that begins at `at`; `at` if none does. A virtual one takes a place.
  size_t behind_function(size_t at, size_t close) const {
    size_t i = at;
    if (is(i, "template") && is(i + 1, "<")) i = brackets_.behind_angles(i + 1);
    for (; i < close && !is(i, "("); ++i)
      if (is(i, ";") || is(i, "{") || is(i, "=") || is(i, "[") || is(i, "virtual")) return at;
    if (i >= close || !(word(i - 1) || i > at + 1)) return at;
    // An alignment or a pointer to a function, which take a place.
    if (is(i - 1, "alignas") || is(i - 1, "__align__") || is(i + 1, "*")) return at;
    for (i = brackets_.closing(i) + 1; i < close; ++i) {
      if (is(i, ";")) return i + 1;
      if (is(i, "(")) i = brackets_.closing(i);
      if (is(i, "{")) {
        i = brackets_.closing(i) + 1;
        if (!is(i, ",") && !is(i, "{")) return is(i, ";") ? i + 1 : i;  // of an initialiser: m{x}, n{y} { … }
      }
    }
    return at;
  }

 private:
  // The 4 of `[4]`, at the [.
  std::optional<size_t> length_at(size_t i) const {
    if (!is(i + 2, "]") || tokens_[i + 1].kind != CppToken::Kind::number) return std::nullopt;
    return number_of<size_t>(tokens_[i + 1].text);
  }
  // The product of the lengths in [begin, end), of which there may be none.
  std::optional<size_t> elements_at(size_t begin, size_t end) const {
    size_t all = 1;
    for (size_t i = begin; i < end; i += 3) {
      const auto length = is(i, "[") ? length_at(i) : std::nullopt;
      if (!length || *length == 0 || *length > kMostMembers) return std::nullopt;
      all *= *length;
      if (all > kMostMembers) return std::nullopt;
    }
    return all;
  }

  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }

  const std::vector<CppToken>& tokens_;
  const CppBrackets& brackets_;
};

}  // namespace

SourceParameter parameter_of(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t begin,
                             size_t end) {
  SourceParameter parameter;
  static const std::set<std::string_view> skipped{"__restrict__", "__restrict",        "restrict", "volatile",
                                                  "struct",       "__grid_constant__", "typename", "register"};
  std::vector<std::string> words;
  size_t stars = 0;
  bool grouped = false;  // float (*rows)[16] points to numbers, float* rows[16] to pointers
  end = std::min(end, begin + kMostTextTokens);
  for (size_t i = begin; i < end && !tokens[i].is("="); ++i) {
    if (tokens[i].text.size() > kLongestText) continue;
    if (tokens[i].is("[")) {
      stars += stars == 1 && !grouped;
      parameter.pointer = true;
      i = brackets.closing(i);
    } else if (tokens[i].is("*")) {
      ++stars;
      parameter.pointer = true;
    } else if (tokens[i].is("(")) {
      grouped = true;
    } else if (tokens[i].is("<") && !words.empty()) {
      const size_t behind = brackets.behind_angles(i);
      words.back() += text_of(tokens, i, behind);
      i = behind - 1;
    } else if (tokens[i].is(":") && !words.empty()) {
      words.back() += ":";
    } else if (tokens[i].is("const")) {
      parameter.constant = parameter.constant || !parameter.pointer;
    } else if (tokens[i].kind == CppToken::Kind::word && !skipped.contains(tokens[i].text)) {
      const bool continued = !words.empty() && words.back().ends_with(":");
      if (continued)
        words.back() += tokens[i].text;
      else
        words.emplace_back(tokens[i].text);
    }
  }
  static const std::set<std::string> base{"int",  "float",    "double", "char", "short",
                                          "long", "unsigned", "signed", "bool", "half"};
  if (words.size() > 1 || (words.size() == 1 && !base.contains(words[0]))) {
    if (words.size() > 1) {
      parameter.name = words.back();
      words.pop_back();
    }
  }
  for (const std::string& word : words) parameter.type += (parameter.type.empty() ? "" : " ") + word;
  if (stars > 1) parameter.type.append(stars - 1, '*');
  if (parameter.type.size() > kLongestText) parameter.type.clear();
  return parameter;
}

std::optional<std::vector<SourceParameter>> members_at(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                                       size_t open) {
  return MemberReader(tokens, brackets).members(open);
}

std::optional<Enumeration> enumeration_at(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                          size_t name) {
  const auto is = [&](size_t i, std::string_view text) { return i < tokens.size() && tokens[i].is(text); };
  size_t open = name + 1;
  while (open < tokens.size() && open < name + kMostTextTokens && !is(open, "{") && !is(open, ";")) ++open;
  if (!is(open, "{") && !is(name + 1, ":")) return std::nullopt;
  Enumeration found;
  if (is(name + 1, ":")) found.type = text_of(tokens, name + 2, std::min(open, tokens.size()));
  if (found.type.empty()) found.type = "int";
  if (!is(open, "{")) return found;
  const size_t close = brackets.closing(open);
  if (close > open + kMostOfEnum) return std::nullopt;
  std::string last;   // the last value that is written
  size_t behind = 0;  // enumerators since then
  for (const auto& [begin, end] : parts_of(tokens, brackets, open + 1, close)) {
    if (begin >= end || tokens[begin].kind != CppToken::Kind::word) continue;
    if (is(begin + 1, "=")) {
      last = text_of(tokens, begin + 2, end);
      behind = 0;
    }
    std::string value = std::to_string(behind);
    if (!last.empty()) value = behind == 0 ? last : "(" + last + ") + " + value;
    found.values.push_back({std::string(tokens[begin].text), std::move(value), tokens[begin].at});
    ++behind;
  }
  return found;
}

}  // namespace attnscope::catalog
