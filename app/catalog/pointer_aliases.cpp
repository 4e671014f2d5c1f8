#include "catalog/pointer_aliases.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace attnscope::catalog {
namespace {

constexpr size_t kMostOfAlias = 100;  // tokens of its declaration
constexpr size_t kMostAliases = 64;

class AliasFinder {
 public:
  AliasFinder(const std::vector<CppToken>& tokens, const CppBrackets& brackets, std::set<std::string_view> known)
      : tokens_(tokens), brackets_(brackets), known_(std::move(known)) {}

  std::vector<PointerAlias> find() {
    for (size_t i = 2; i < tokens_.size() && found_.size() < kMostAliases; ++i) {
      if (!is(i, "=") || is(i + 1, "=") || !word(i - 1)) continue;
      const auto alias = declared(i);
      if (!alias) continue;
      const auto same = std::ranges::find(found_, alias->name, &PointerAlias::name);
      if (same == found_.end() && !known_.insert(alias->name).second) continue;  // it hides a parameter
      if (same != found_.end() && same->pointer != alias->pointer) unclear_.insert(alias->name);
      found_.push_back(*alias);
    }
    // A name for two pointers says nothing of either, and neither does a name for it.
    for (const PointerAlias& one : found_)
      if (unclear_.contains(one.pointer)) unclear_.insert(one.name);
    std::erase_if(found_, [&](const PointerAlias& one) { return unclear_.contains(one.name); });
    return std::move(found_);
  }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }

  // At the = of `T* name = …;`.
  std::optional<PointerAlias> declared(size_t i) const {
    size_t type = i - 2;
    while (type > 0 && (is(type, "const") || is(type, "__restrict__") || is(type, "__restrict"))) --type;
    const bool pointer = is(type, "*") && type > 0 && (word(type - 1) || is(type - 1, ">"));
    if (!pointer) return std::nullopt;
    size_t start = type - 1;
    while (start > 0 && i - start < kMostOfAlias && !is(start - 1, ";") && !is(start - 1, "{") && !is(start - 1, "}") &&
           !is(start - 1, ")") && tokens_[start - 1].kind != CppToken::Kind::line)
      --start;
    for (size_t at = start; at < type; ++at)  // a product, a subscript or an assignment is no type
      if (is(at, "=") || is(at, "(") || is(at, "[") || is(at, "+") || is(at, "return")) return std::nullopt;
    PointerAlias alias{tokens_[i - 1].text, {}, i - 1, behind_casts(i + 1), 0, 0};
    size_t end = i + 1;
    while (end < tokens_.size() && end < i + kMostOfAlias && !is(end, ";") && !is(end, ",") && !is(end, "?")) ++end;
    if (!is(end, ";") || !word(alias.at) || !known_.contains(tokens_[alias.at].text)) return std::nullopt;
    alias.pointer = tokens_[alias.at].text;
    const bool address = is(alias.at - 1, "&");
    const size_t behind = alias.at + 1;
    if (address ? !is(behind, "[") : !is(behind, "+") && !is(behind, ";") && !is(behind, ")")) return std::nullopt;
    alias.begin = behind;
    alias.end = end;
    for (size_t at = behind; at < end; ++at)
      if (word(at) && known_.contains(tokens_[at].text)) return std::nullopt;
    return alias;
  }

  // The index behind reinterpret_cast<…>(, (T*), & and opening brackets.
  size_t behind_casts(size_t i) const {
    for (const size_t first = i; i < first + kMostOfAlias;) {
      if (is(i, "&"))
        ++i;
      else if ((is(i, "reinterpret_cast") || is(i, "static_cast") || is(i, "const_cast")) && is(i + 1, "<"))
        i = brackets_.behind_angles(i + 1);
      else if (is(i, "(") && brackets_.closing(i) < tokens_.size() && is(brackets_.closing(i) - 1, "*"))
        i = brackets_.closing(i) + 1;
      else if (is(i, "("))
        ++i;
      else
        break;
    }
    return i;
  }

  const std::vector<CppToken>& tokens_;
  const CppBrackets& brackets_;
  std::set<std::string_view> known_, unclear_;
  std::vector<PointerAlias> found_;
};

}  // namespace

std::vector<PointerAlias> pointer_aliases(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                          const std::vector<std::string>& pointers) {
  return AliasFinder(tokens, brackets, std::set<std::string_view>(pointers.begin(), pointers.end())).find();
}

}  // namespace attnscope::catalog
