#include "compile/needed_code.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::compile {
namespace {

class Declarations {
 public:
  explicit Declarations(std::string_view source) : source_(source), tokens_(cpp_tokens(source)), brackets_(tokens_) {
    for (size_t i = 0; i < tokens_.size();) i = read(i);
    for (size_t i = 0; i < all_.size(); ++i) {
      by_name_[all_[i].name].push_back(i);
      if (!all_[i].tag.empty()) by_name_[all_[i].tag].push_back(i);
    }
  }

  std::string needed_by(std::string_view entry) {
    for (const CppToken& token : cpp_tokens(entry)) reach(token);
    for (const CppToken& line : tokens_) {
      if (line.kind != CppToken::Kind::line) continue;
      for (const CppToken& token : cpp_tokens(line.text.substr(1))) reach(token);
    }
    for (size_t i = 0; i < all_.size(); ++i)
      if (all_[i].name.empty()) need(i);
    while (!waiting_.empty()) {
      const One one = all_[waiting_.back()];
      waiting_.pop_back();
      for (size_t i = one.begin; i < one.end; ++i) reach(tokens_[i]);
    }
    std::string out(source_);
    for (const One& one : all_)
      if (!one.needed) blank(out, one);
    return out;
  }

 private:
  struct One {
    size_t begin = 0, end = 0;  // tokens
    std::string_view name;      // empty: it declares no plain name
    std::string_view tag;       // of a typedef'd struct, if it has one: a second name
    bool needed = false;
  };

  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }

  void need(size_t i) {
    if (all_[i].needed) return;
    all_[i].needed = true;
    waiting_.push_back(i);
  }
  void reach(const CppToken& token) {
    if (token.kind != CppToken::Kind::word || !reached_.insert(token.text).second) return;
    if (const auto found = by_name_.find(token.text); found != by_name_.end())
      for (const size_t i : found->second) need(i);
  }

  // Reads the declaration at token i. Returns where the next one starts. A namespace's contents are read one by one.
  size_t read(size_t i) {
    if (tokens_[i].kind == CppToken::Kind::line || is(i, ";") || is(i, "}")) return i + 1;
    size_t at = is(i, "inline") ? i + 1 : i;
    if (is(at, "namespace") || (is(at, "extern") && !word(at + 1) && is(at + 2, "{"))) {
      while (at < tokens_.size() && !is(at, "{") && !is(at, ";")) ++at;
      return at + 1;
    }
    One one{i, end_of(i), {}, {}, false};
    one.name = name_of(one);
    if (is(i, "typedef") && word(i + 2) && is(i + 3, "{")) one.tag = tokens_[i + 2].text;
    all_.push_back(one);
    return one.end;
  }

  // The index after the ";", or after the body of a function.
  size_t end_of(size_t i) const {
    bool parameters = false, assigned = false;
    while (is(i, "template") && is(i + 1, "<")) i = brackets_.behind_angles(i + 1);  // a default there assigns nothing
    for (; i < tokens_.size(); ++i) {
      if (is(i, ";")) return i + 1;
      if (is(i, "=")) assigned = true;
      if (is(i, "(")) parameters = true;
      if (!is(i, "(") && !is(i, "[") && !is(i, "{")) continue;
      const bool body = is(i, "{") && parameters && !assigned;
      i = std::min(brackets_.closing(i), tokens_.size() - 1);
      if (body && !is(i + 1, ";") && !is(i + 1, ",") && !is(i + 1, "{")) return i + 1;
    }
    return tokens_.size();
  }

  // The name of a class, an alias, a function or a variable.
  std::string_view name_of(const One& one) const {
    static const std::set<std::string_view> unnamed{"static_assert", "asm", "operator", "friend"};
    static const std::set<std::string_view> bracketed{"__launch_bounds__", "__align__", "alignas", "__attribute__",
                                                      "decltype",          "explicit",  "requires"};
    size_t i = one.begin;
    while (is(i, "template") && is(i + 1, "<")) i = brackets_.behind_angles(i + 1);
    if (i >= one.end || is(i, "template")) return {};  // an instantiation
    if (is(i, "typedef")) return typedef_name(i, one.end);
    if (is(i, "using")) return is(i + 2, "=") && word(i + 1) ? tokens_[i + 1].text : std::string_view();
    bool type = false;
    std::string_view last;
    for (; i < one.end; ++i) {
      if (tokens_[i].kind == CppToken::Kind::line) return {};  // it depends on a condition
      if (word(i) && unnamed.contains(tokens_[i].text)) return {};
      if (is(i, "struct") || is(i, "class") || is(i, "union") || is(i, "enum")) {
        type = true;
      } else if (word(i)) {
        if (bracketed.contains(tokens_[i].text) && is(i + 1, "(")) {
          i = brackets_.closing(i + 1);
          continue;
        }
        last = tokens_[i].text;
        if (type && !is(i + 1, "(") && (is(i + 1, "{") || is(i + 1, ":") || is(i + 1, ";") || is(i + 1, "<")))
          return last;
      } else if (is(i, "(") || is(i, "=") || is(i, ";") || is(i, "[") || is(i, "{")) {
        return type && is(i, "{") ? std::string_view() : last;
      } else if (is(i, ",")) {
        return {};  // several names
      } else if (is(i, "<")) {
        i = brackets_.behind_angles(i) - 1;
      }
    }
    return {};
  }

  std::string_view typedef_name(size_t i, size_t end) const {
    const size_t last = end - 1;  // the ";"
    for (; i + 3 < last; ++i) {
      if (is(i, "{")) i = brackets_.closing(i);
      if (is(i, "(") && is(i + 1, "*") && word(i + 2) && is(i + 3, ")")) return tokens_[i + 2].text;
    }
    return last > 0 && word(last - 1) ? tokens_[last - 1].text : std::string_view();
  }

  void blank(std::string& out, const One& one) const {
    for (size_t at = tokens_[one.begin].at, last = tokens_[one.end - 1].end(); at < last; ++at)
      if (out[at] != '\n') out[at] = ' ';
    for (size_t i = one.begin; i < one.end; ++i)
      if (tokens_[i].kind == CppToken::Kind::line) out.replace(tokens_[i].at, tokens_[i].text.size(), tokens_[i].text);
  }

  std::string_view source_;
  std::vector<CppToken> tokens_;
  CppBrackets brackets_;
  std::vector<One> all_;
  std::unordered_map<std::string_view, std::vector<size_t>> by_name_;
  std::unordered_set<std::string_view> reached_;
  std::vector<size_t> waiting_;  // needed ones whose words have not been followed yet
};

}  // namespace

std::string only_needed(std::string_view source, std::string_view entry) {
  return Declarations(source).needed_by(entry);
}

}  // namespace attnscope::compile
