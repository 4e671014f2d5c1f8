#include "catalog/import_guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "catalog/source_text.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostOfBound = 40;              // tokens of a bound, or of an index
constexpr int64_t kMostCtas = int64_t{1} << 20;  // of a guess
constexpr int kMostLocals = 8;                   // names that stand for names
constexpr const char* kWarp = "32";

// How an index of the kernel follows from blockIdx: index = (blockIdx * factor + …) / divisor.
struct Index {
  size_t axis = 0;
  std::string factor, divisor;  // of a manifest; "1": none
};

class GuardReader {
 public:
  GuardReader(const ReadSource& source, const SourceKernel& kernel, const std::vector<std::string>& block,
              const HostScope& scope)
      : cuda_(source.cuda),
        first_(kernel.body),
        end_(kernel.end),
        block_(block),
        scope_(scope),
        tokens_(cpp_tokens(std::string_view(source.text).substr(kernel.body, kernel.end - kernel.body))),
        brackets_(tokens_) {}

  OwnGrid read() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "blockIdx"))
        if (const auto axis = axis_at(i)) grid_.used[*axis] = true;
      if (!word(i)) continue;
      if (is(i + 1, "=") && !is(i + 2, "="))
        read_index(i);
      else
        read_bound(i);
    }
    return std::move(grid_);
  }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }
  // As an expression of a manifest; the kernel's parameters have their own names.
  std::string now(const std::string& text, size_t i) const {
    const std::string own = with_locals(text, first_ + tokens_[i].at, kMostLocals);
    return own.empty() ? own : scope_.in_terms(HostText{own, SIZE_MAX});
  }

  // With their values in place of the kernel's own constants; empty if that is too long.
  std::string with_locals(const std::string& text, size_t at, int depth) const {
    std::string whole;
    size_t copied = 0;
    for (const CppToken& token : cpp_tokens(text)) {
      const auto* const local =
          token.kind == CppToken::Kind::word ? cuda_.constants.find(std::string(token.text), at) : nullptr;
      if (!local || local->at < first_ || local->at >= end_) continue;
      const std::string value = depth > 0 ? with_locals(local->value, local->at, depth - 1) : "";
      if (value.empty() || whole.size() + value.size() > kLongestText) return {};
      whole += text.substr(copied, token.at - copied) + "(" + value + ")";
      copied = token.end();
    }
    return whole + text.substr(copied);
  }

  // x, y or z of `blockIdx.x`, at its first word.
  std::optional<size_t> axis_at(size_t i) const {
    if (!is(i + 1, ".") || !word(i + 2) || tokens_[i + 2].text.size() != 1) return std::nullopt;
    const size_t axis = std::string_view("xyz").find(tokens_[i + 2].text);
    return axis < 3 ? std::optional(axis) : std::nullopt;
  }

  // Behind the last token of what stands between commas and semicolons from `i` on.
  size_t end_of_part(size_t i) const {
    size_t end = i;
    while (end < tokens_.size() && end - i < kMostOfBound) {
      if (is(end, "(") || is(end, "[") || is(end, "{"))
        end = std::min(brackets_.closing(end), tokens_.size());
      else if (is(end, ",") || is(end, ";") || is(end, ")") || is(end, "}") || is(end, "]"))
        break;
      ++end;
    }
    return std::min(end, tokens_.size());
  }

  // A number, a name or blockDim.x, from `i` on, as an expression of a manifest, and the token behind it.
  std::optional<std::pair<std::string, size_t>> factor_at(size_t i) const {
    if (i >= tokens_.size()) return std::nullopt;
    if (is(i, "blockDim"))
      if (const auto axis = axis_at(i)) return std::pair(block_[*axis], i + 3);
    if (is(i, "warpSize")) return std::pair(std::string(kWarp), i + 1);
    if (is(i, "(")) {
      const size_t close = brackets_.closing(i);
      if (close >= tokens_.size() || close - i > kMostOfBound) return std::nullopt;
      const std::string text = now(text_of(tokens_, i, close + 1), i);
      return text.empty() ? std::nullopt : std::optional(std::pair(text, close + 1));
    }
    const bool plain = word(i) || tokens_[i].kind == CppToken::Kind::number;
    if (!plain || is(i + 1, ".") || is(i + 1, "(") || is(i + 1, "[") || is(i + 1, ":")) return std::nullopt;
    const std::string text = now(std::string(tokens_[i].text), i);
    return text.empty() ? std::nullopt : std::optional(std::pair(text, i + 1));
  }

  std::string of_manifest(const std::string& text) const { return scope_.in_terms(HostText{text, SIZE_MAX}); }
  std::string product(const std::string& a, const std::string& b) const {
    return a == "1" ? b : of_manifest(fmt::format("({}) * ({})", a, b));
  }

  // What follows a bracket or an index: `* 4`, `/ 32` or `>> 5`. False: something else is done with it.
  bool apply(Index& index, size_t& at) const {
    const bool shift = is(at, ">") && is(at + 1, ">");
    if (!shift && !is(at, "*") && !is(at, "/")) return false;
    const auto factor = factor_at(at + (shift ? 2 : 1));
    if (!factor) return false;
    std::string text = factor->first;
    if (shift) text = of_manifest("1 << (" + text + ")");
    if (text.empty()) return false;
    std::string& to = is(at, "*") ? index.factor : index.divisor;
    to = product(to, text);
    at = factor->second;
    return !to.empty();
  }

  // `name = …blockIdx.x…` or `name = i / 32`, at the name.
  void read_index(size_t name) {
    const size_t begin = name + 2, end = end_of_part(begin);
    indices_.erase(tokens_[name].text);
    size_t at = end;
    for (size_t i = begin; i < end; ++i) {
      if (!is(i, "blockIdx")) continue;
      if (at != end) return;  // of several axes
      at = i;
    }
    if (at == end) return read_follower(name, begin, end);
    const auto axis = axis_at(at);
    if (!axis) return;
    Index index{*axis, "1", "1"};
    size_t behind = at + 3;
    if (at > begin + 1 && is(at - 1, "*")) {  // TILE * blockIdx.x, blockDim.x * blockIdx.x
      const bool dim = at >= begin + 4 && is(at - 4, "blockDim");
      const auto factor = factor_at(dim ? at - 4 : at - 2);
      if (!factor || factor->second != at - 1) return;
      index.factor = factor->first;
    }
    while (is(behind, "*"))
      if (!apply(index, behind)) return;
    // (blockIdx.x * blockDim.x + threadIdx.x) / 32
    for (size_t open = at; open-- > begin;) {
      if (!is(open, "(") || brackets_.closing(open) < at || brackets_.closing(open) >= end) continue;
      size_t next = brackets_.closing(open) + 1;
      while (is(next, "*") || is(next, "/") || is(next, ">"))
        if (!apply(index, next)) return;
    }
    add(name, std::move(index));
  }

  void read_follower(size_t name, size_t begin, size_t end) {
    const auto known = begin < end ? indices_.find(tokens_[begin].text) : indices_.end();
    if (known == indices_.end()) return;
    Index index = known->second;
    size_t at = begin + 1;
    while (at < end)
      if (!apply(index, at)) return;
    indices_.insert_or_assign(tokens_[name].text, std::move(index));
  }

  void add(size_t name, Index index) {
    if (grid_.tile[index.axis].empty() && index.divisor == "1" && index.factor != "1")
      grid_.tile[index.axis] = index.factor;
    indices_.insert_or_assign(tokens_[name].text, std::move(index));
  }

  // `i < n` or `i >= n`, at i. The first bound of an axis counts.
  void read_bound(size_t name) {
    const auto known = indices_.find(tokens_[name].text);
    if (known == indices_.end() || is_member(tokens_, name)) return;
    const bool less = is(name + 1, "<") && !is(name + 2, "<") && !is(name + 2, "=");
    const bool not_less = is(name + 1, ">") && is(name + 2, "=");
    const Index& index = known->second;
    if ((!less && !not_less) || !grid_.ctas[index.axis].empty()) return;
    const size_t begin = name + (less ? 2 : 3);
    size_t end = begin;
    for (const size_t last = end_of_part(begin); end < last; ++end) {
      if (is(end, "(")) end = std::min(brackets_.closing(end), last);
      if (is(end, "&") || is(end, "|") || is(end, "?")) break;
    }
    const std::string bound = now(text_of(tokens_, begin, end), name);
    if (bound.empty() || bound.find_first_not_of("0123456789") == std::string::npos) return;
    const std::string all = product(index.divisor, bound);
    const std::string ctas =
        index.factor == "1" ? all : of_manifest(fmt::format("ceil_div({}, {})", all, index.factor));
    const auto count = scope_.now_of(ctas);
    if (!ctas.empty() && count && *count >= 1 && *count <= kMostCtas) grid_.ctas[index.axis] = ctas;
  }

  const CudaSource& cuda_;
  const size_t first_, end_;  // byte offsets of the body
  const std::vector<std::string>& block_;
  const HostScope& scope_;
  const std::vector<CppToken> tokens_;
  const CppBrackets brackets_;
  std::map<std::string_view, Index> indices_;  // by name, as the text goes
  OwnGrid grid_;
};

}  // namespace

OwnGrid own_grid(const ReadSource& source, const SourceKernel& kernel, const std::vector<std::string>& block,
                 const HostScope& scope) {
  return GuardReader(source, kernel, block, scope).read();
}

}  // namespace attnscope::catalog
