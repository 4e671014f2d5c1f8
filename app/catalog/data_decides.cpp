#include "catalog/data_decides.h"

#include <algorithm>
#include <numeric>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr int kPasses = 3;                  // a name computed from a later line's name needs a second pass
constexpr size_t kMostHeads = 64;           // if (a) if (b) …: heads of one statement
constexpr size_t kLongestStatement = 2000;  // tokens

}  // namespace

DataDecides::DataDecides(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                         const std::map<std::string, PointerUse, std::less<>>& pointers)
    : tokens_(tokens), brackets_(brackets), before_(tokens.size() + 1), guards_(tokens.size() + 1) {
  for (const auto& [name, use] : pointers) pointers_.insert(name);
  names_ = pointers_;
  for (int pass = 0; pass < kPasses; ++pass) {
    count();
    spread();
  }
  count();
  find_guards();
}

void DataDecides::count() {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const bool named =
        tokens_[i].kind == CppToken::Kind::word && names_.contains(tokens_[i].text) && !is_member(tokens_, i);
    before_[i + 1] = before_[i] + (named && !is_tested(i));
  }
}

// True if a pointer is only compared: p != nullptr, if (p), !p && …
bool DataDecides::is_tested(size_t i) const {
  if (!pointers_.contains(tokens_[i].text)) return false;
  if (is(i + 2, "=") && (is(i + 1, "=") || is(i + 1, "!"))) return true;
  const bool ends = is(i + 1, ")") || is(i + 1, "&") || is(i + 1, "|") || is(i + 1, "?");
  const bool begins = i > 1 && (is(i - 1, "!") || is(i - 1, "|") || (is(i - 1, "&") && is(i - 2, "&")) ||
                                (is(i - 1, "(") && (is(i - 2, "if") || is(i - 2, "while"))));
  return begins && ends;
}

// Marks names as data: from the right side of an assignment to its left, and from the arguments of a declaration to its
// name.
void DataDecides::spread() {
  size_t statement = 0;  // the end of the last one, so that a = a = a … is searched only once
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (is(i, "auto") && is(i + 1, "[")) {  // auto [a, b] = …
      const size_t close = brackets_.closing(i + 1);
      if (!uses_data(std::min(close + 1, tokens_.size()), statement_end(i))) continue;
      for (size_t k = i + 2; k < close && k < tokens_.size(); ++k) names_.insert(tokens_[k].text);
      continue;
    }
    if (tokens_[i].kind != CppToken::Kind::word) continue;
    size_t behind = i + 1;
    while (is(behind, "[")) behind = brackets_.closing(behind) + 1;
    while (is(behind, ".")) behind += 2;
    if (behind < tokens_.size() && std::string_view("+-*/%&|^").find(tokens_[behind].text) != std::string_view::npos)
      ++behind;
    const bool assigned = is(behind, "=") && !is(behind + 1, "=");
    const bool declared = behind == i + 1 && is(behind, "(") && i > 0 && tokens_[i - 1].kind == CppToken::Kind::word;
    if (!assigned && !declared) continue;
    if (assigned && behind >= statement) statement = statement_end(behind);
    const size_t end = declared ? brackets_.closing(behind) : statement;
    if (uses_data(behind, std::min(end, tokens_.size()))) names_.insert(tokens_[i].text);
  }
}

bool DataDecides::is_head(size_t i) const {
  return (is(i, "if") || is(i, "while") || is(i, "for") || is(i, "switch")) && is(i + 1, "(");
}

// The index after the statement at `i`, including its block and its else.
size_t DataDecides::statement_end(size_t i) const {
  for (size_t heads = 0; heads < kMostHeads; ++heads) {
    if (is_head(i)) {
      i = brackets_.closing(i + 1) + 1;
      continue;
    }
    if (is(i, "else")) {
      ++i;
      continue;
    }
    if (is(i, "{")) {
      i = brackets_.closing(i) + 1;
    } else {
      const size_t most = std::min(tokens_.size(), i + kLongestStatement);
      while (i < most && !is(i, ";") && !is(i, "}")) i = is(i, "(") || is(i, "{") ? brackets_.closing(i) + 1 : i + 1;
      i += is(i, ";") ? 1 : 0;
    }
    if (!is(i, "else")) break;
  }
  return std::min(i, tokens_.size());
}

void DataDecides::guard(size_t begin, size_t end) {
  if (begin >= end) return;
  ++guards_[begin];
  --guards_[end];
}

void DataDecides::find_guards() {
  std::vector<size_t> returns(tokens_.size() + 1), jumps(tokens_.size() + 1);  // before each token
  for (size_t i = 0; i < tokens_.size(); ++i) {
    returns[i + 1] = returns[i] + is(i, "return");
    jumps[i + 1] = jumps[i] + (is(i, "break") || is(i, "continue"));
  }
  std::vector<size_t> ends;  // of the blocks around the token
  for (size_t i = 0; i < tokens_.size(); ++i) {
    while (!ends.empty() && ends.back() <= i) ends.pop_back();
    if (is(i, "{")) ends.push_back(brackets_.closing(i));
    if (!is_head(i)) continue;
    const size_t condition_end = std::min(brackets_.closing(i + 1), tokens_.size());
    if (!uses_data(i + 2, std::max(condition_end, i + 2))) continue;
    const size_t end = statement_end(i);
    guard(i, end);
    // Marks what is skipped when the statement is left: the rest of the block, or of the kernel.
    if (returns[end] > returns[i])
      guard(end, tokens_.size());
    else if (jumps[end] > jumps[i] && is(i, "if"))
      guard(end, ends.empty() ? tokens_.size() : ends.back());
  }
  std::partial_sum(guards_.begin(), guards_.end(), guards_.begin());
}

}  // namespace attnscope::catalog
