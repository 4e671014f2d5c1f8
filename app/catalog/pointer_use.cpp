#include "catalog/pointer_use.h"

#include <ranges>
#include <set>
#include <vector>

#include "catalog/data_decides.h"
#include "catalog/pointer_aliases.h"
#include "catalog/source_text.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kLongestStatement = 2000, kLongestCast = 64;  // tokens that are examined

class Uses {
 public:
  Uses(const std::vector<CppToken>& tokens, const CppBrackets& brackets, const std::vector<PointerAlias>& aliases,
       std::map<std::string, PointerUse, std::less<>>& uses)
      : tokens_(tokens), brackets_(brackets), uses_(uses), data_(tokens_, brackets_, uses) {
    // Where the data says what an alias leads to, the text does not show which elements are used.
    for (const PointerAlias& one : aliases)
      if (!data_.uses_data(one.begin, one.end)) followed_.insert({one.at, one.name_at});
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!open.empty() && brackets_.closing(open.back()) <= i) open.pop_back();
      around_.push_back(open.empty() ? i : open.back());
      if ((is(i, "(") || is(i, "{")) && brackets_.closing(i) < tokens_.size()) open.push_back(i);
    }
  }

  void all() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, ";") || is(i, "{") || is(i, "}") || tokens_[i].kind == CppToken::Kind::line) {
        start_ = i + 1;
        continue;
      }
      if (tokens_[i].kind != CppToken::Kind::word) continue;
      const auto found = uses_.find(tokens_[i].text);
      if (found == uses_.end() || followed_.contains(i)) continue;
      if (is_member(tokens_, i)) continue;
      use_ = &found->second;
      parameter_ = found->first;
      one(i);
    }
  }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }

  bool is_keyword(size_t i) const {
    static const std::set<std::string_view> words{"if", "for", "while", "switch", "return", "else", "do"};
    return words.contains(tokens_[i].text);
  }

  size_t end_of(size_t i) const {
    size_t end = i;
    while (end < tokens_.size() && end < i + kLongestStatement && !is(end, ";") && !is(end, "{") && !is(end, "}"))
      ++end;
    return end;
  }

  // True for +=, =, but not for ==, <=, >=, !=. `at` gets the index of its "=".
  bool assigns(size_t i, size_t& at) const {
    static const std::set<std::string_view> operators{"+", "-", "*", "/", "%", "&", "|", "^"};
    at = i;
    if (i < tokens_.size() && operators.contains(tokens_[i].text) && is(i + 1, "=")) at = i + 1;
    return is(at, "=") && !is(at + 1, "=");
  }

  void one(size_t i) {
    size_t behind = i + 1;
    const bool element = is(behind, "[");
    while (is(behind, "[")) behind = brackets_.closing(behind) + 1;
    while (is(behind, ".") && word(behind + 1)) behind += 2;  // .x of a vector
    size_t at = 0;
    if (!element && assigns(behind, at)) {
      const bool itself = at != behind || only_itself(at + 1, end_of(at));
      if (itself && is_followed(i)) {  // *p += v, *p = *p + v
        load();
        store(i);
      } else if (is_followed(i)) {
        store(i);  // *p = v
      } else if (!itself) {
        use_->passed_on = true;
      }
      return;  // otherwise the pointer itself moves
    }
    if (!element && is(behind, "+") && is(behind + 1, "+") && !is(i - 1, "*")) return;
    // p = p + 4
    if (!element && tokens_[start_].text == parameter_ && is(start_ + 1, "=") && i > start_) return;
    const bool address = i > 0 && is(i - 1, "&") && !(i > 1 && is(i - 2, "&")) && !(i > 1 && value_before(i - 1));
    const bool target = i > 0 && is(i - 1, "*") && !value_before(i - 1);  // *p
    if ((element && !address) || (!element && target)) {
      if (is(i + 1, "[") && data_.uses_data(i + 2, brackets_.closing(i + 1))) indexed_by_data_ = true;
      access(behind, i);
      indexed_by_data_ = false;
      return;
    }
    pointer(i, behind, address);
  }

  // True if a value precedes the operator at `i`, so that & and * are binary there.
  bool value_before(size_t i) const {
    if (i == 0) return false;
    const CppToken& token = tokens_[i - 1];
    if (token.kind == CppToken::Kind::number || token.is("]")) return true;
    if (token.is(")")) return !is_cast(i - 1) && !ends_head(i - 1);
    return token.kind == CppToken::Kind::word && !token.is("return") && !token.is("else") && !token.is("case");
  }

  // *p, *(volatile float*)p
  bool is_followed(size_t i) const {
    if (i > 0 && is(i - 1, ")") && is_cast(i - 1)) i = opening(i - 1);
    return i > 0 && is(i - 1, "*") && !value_before(i - 1);
  }

  // The bracket that is closed at `close`, or one of the tokens before it if there is none near.
  size_t opening(size_t close) const {
    size_t depth = 0, open = close;
    for (; open > 0 && close - open < kLongestCast; --open) {
      if (is(open, ")")) ++depth;
      if (is(open, "(") && --depth == 0) break;
    }
    return open;
  }

  // True if the bracket that closes at `close` is a cast, as in (float4*)&x or (int)x.
  bool is_cast(size_t close) const {
    const size_t open = opening(close);
    if (open > 0 && word(open - 1)) return false;  // a call
    if (close > open && is(close - 1, "*")) return true;
    static const std::set<std::string_view> types{"int",  "unsigned", "float",  "double",
                                                  "long", "half",     "size_t", "char"};
    return close == open + 2 && types.contains(tokens_[open + 1].text);
  }

  // True if the bracket that closes at `close` belongs to an if or a loop.
  bool ends_head(size_t close) const {
    const size_t open = opening(close);
    return open > 0 && word(open - 1) && is_keyword(open - 1);
  }

  // p = p + …: only the parameter and numbers are on the right side.
  bool only_itself(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i)
      if (tokens_[i].text == parameter_) return true;
    return false;
  }

  // Handles an element, or what the pointer refers to, that ends before `behind`: it is stored if an assignment
  // follows, also after the closing brackets of a macro as in FLOAT4(x[i]) = …
  void access(size_t behind, size_t i) {
    const bool increment = (is(behind, "+") && is(behind + 1, "+")) || (is(behind, "-") && is(behind + 1, "-")) ||
                           (i > 1 && ((is(i - 1, "+") && is(i - 2, "+")) || (is(i - 1, "-") && is(i - 2, "-"))));
    size_t at = 0;
    if (increment) {
      load();
      store(i);
    } else if (assigns(behind, at)) {
      store(i);
      if (at != behind) load();
    } else if (in_macro_that_is_assigned(i, behind)) {
      store(i);
    } else if (by_reference(i)) {
      use_->passed_on = true;
    } else {
      load();
    }
  }

  // x[i] = x[i] + 1: the statement's load comes before its store.
  void load() {
    use_->read = true;
    if (first_.try_emplace(use_, start_).first->second == start_) use_->loaded_first = true;
  }

  void store(size_t i) {
    use_->stored = true;
    first_.try_emplace(use_, start_);
    if (indexed_by_data_ || data_.decides(i)) use_->scattered = true;
  }

  // True if the element may be written through a reference: STORE(p[k], v);  cuda::atomic_ref<int> all(*p); auto& first
  // = p[0];
  bool by_reference(size_t i) const {
    const size_t first = i > 0 && is(i - 1, "*") ? i - 1 : i;
    if (first > 2 && is(first - 1, "=") && word(first - 2) && is(first - 3, "&")) return true;
    const size_t open = around_[i];
    if (open == i || open == 0 || !word(open - 1)) return false;
    static const std::set<std::string_view> values{"int",   "unsigned", "float", "double",        "long", "half",
                                                   "short", "char",     "bool",  "__nv_bfloat16", "auto", "size_t"};
    const size_t name = open - 1;
    if (name == start_)
      return is(open, "(") && !is_keyword(name) && !tokens_[name].text.starts_with("atomic") &&
             !values.contains(tokens_[name].text);
    if (name == 0) return false;
    const CppToken& before = tokens_[name - 1];
    if (before.is(">")) return !is(name - 2, "-");
    return before.kind == CppToken::Kind::word && !is_keyword(name - 1) && !values.contains(before.text);
  }

  bool in_macro_that_is_assigned(size_t i, size_t behind) const {
    if (i < 2 || !is(i - 1, "(") || !word(i - 2) || i - 2 < start_ || !is(behind, ")")) return false;
    size_t at = 0;
    return assigns(behind + 1, at) || is(behind + 1, "[");
  }

  // Handles the address of an element, or the pointer itself.
  void pointer(size_t i, size_t behind, bool address) {
    const size_t first = address ? i - 1 : i;
    // reinterpret_cast<float4*>(&p[k])[0] and *(float4*)&p[k], read or stored
    size_t open = first;
    if (open > 0 && is(open - 1, "(")) {
      const size_t close = brackets_.closing(open - 1);
      const bool cast = open > 1 && is(open - 2, ">");
      const bool starred = cast ? star_before_cast(open - 2) : open > 1 && is(open - 2, "*") && !value_before(open - 2);
      if (!cast && open > 1 && word(open - 2) && tokens_[open - 2].text.starts_with("atomic")) {
        use_->read = use_->stored = true;
        first_.try_emplace(use_, start_);
        return;
      }
      static const std::set<std::string_view> readers{"__ldg", "__ldcs", "__ldca", "__ldcg", "__ldcv", "__ldlu"};
      if (!cast && open > 1 && word(open - 2) && readers.contains(tokens_[open - 2].text)) {
        load();
        return;
      }
      if (open > 2 && is(open - 2, ")") && is_cast(open - 2)) {  // (float4*)(&p[k])
        const size_t begin = opening(open - 2);
        if (begin > 0 && is(begin - 1, "*") && !value_before(begin - 1)) return access(close + 1, i);
        if (begin > 0 && is(begin - 1, "(") && is(close + 1, ")") && is(close + 2, "["))
          return access(brackets_.closing(close + 2) + 1, i);
      }
      if (cast && is(close + 1, "[")) return access(brackets_.closing(close + 1) + 1, i);
      if ((cast || !(open > 1 && word(open - 2))) && starred) return access(close + 1, i);
    }
    if (open > 0 && is(open - 1, ")") && is_cast(open - 1)) {
      const size_t begin = opening(open - 1);
      if (begin > 0 && is(begin - 1, "*") && !value_before(begin - 1)) return access(behind, i);
      if (begin > 0 && is(begin - 1, "(") && is(behind, ")") && is(behind + 1, "["))
        return access(brackets_.closing(behind + 1) + 1, i);
    }
    if (compared(behind)) return;
    use_->passed_on = true;
  }

  bool star_before_cast(size_t angle) const {
    size_t depth = 0, open = angle;
    for (; open > 0 && angle - open < kLongestCast; --open) {
      if (is(open, ">")) ++depth;
      if (is(open, "<") && --depth == 0) break;
    }
    return open > 1 && is(open - 2, "*") && !value_before(open - 2);
  }

  // p == nullptr, if (p), p && …
  bool compared(size_t behind) const {
    return (is(behind, "=") && is(behind + 1, "=")) || (is(behind, "!") && is(behind + 1, "=")) ||
           (is(behind, "&") && is(behind + 1, "&"));
  }

  const std::vector<CppToken>& tokens_;
  const CppBrackets& brackets_;
  std::map<std::string, PointerUse, std::less<>>& uses_;
  const DataDecides data_;
  std::set<size_t> followed_;            // pointers from which an alias is declared, whose uses count
  std::vector<size_t> around_;           // by token: the ( or { that it is in; itself if there is none
  std::map<PointerUse*, size_t> first_;  // the statement of the first load, store or atomic
  size_t start_ = 0;                     // of the statement
  PointerUse* use_ = nullptr;            // of the current parameter
  std::string_view parameter_;
  bool indexed_by_data_ = false;  // for the current element
};

// True if the use was not part of the other before.
bool add_use(PointerUse& to, const PointerUse& one) {
  bool changed = false;
  const auto add = [&](bool& flag, bool its) {
    changed = changed || (its && !flag);
    flag = flag || its;
  };
  add(to.read, one.read);
  add(to.stored, one.stored);
  add(to.passed_on, one.passed_on);
  add(to.scattered, one.scattered);
  add(to.loaded_first, one.loaded_first);
  return changed;
}

}  // namespace

std::map<std::string, PointerUse, std::less<>> pointer_uses(std::string_view body,
                                                            const std::vector<std::string>& parameters) {
  std::map<std::string, PointerUse, std::less<>> uses;
  for (const std::string& parameter : parameters) uses[parameter];
  const std::vector<CppToken> tokens = cpp_tokens(body);
  const CppBrackets brackets(tokens);
  const std::vector<PointerAlias> aliases = pointer_aliases(tokens, brackets, parameters);
  for (const PointerAlias& one : aliases) uses[std::string(one.name)];
  Uses(tokens, brackets, aliases, uses).all();
  // One may be declared from another, and twice.
  for (bool changed = true; changed;) {
    changed = false;
    for (const PointerAlias& one : aliases | std::views::reverse) {
      const auto found = uses.find(one.name), pointer = uses.find(one.pointer);
      if (found != uses.end() && pointer != uses.end()) changed = add_use(pointer->second, found->second) || changed;
    }
  }
  for (const PointerAlias& one : aliases)
    if (const auto found = uses.find(one.name); found != uses.end()) uses.erase(found);
  return uses;
}

}  // namespace attnscope::catalog
