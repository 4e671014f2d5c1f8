#include "charts/code_diff.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <span>
#include <unordered_map>

namespace attnscope::charts {
namespace {

using Keys = std::span<const int>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;
constexpr size_t kTable = 1 << 16;  // subproblems of up to this many cells are solved in a table

// For each j, the length of a longest common subsequence of `a` and the first j lines of `b`. `back`: both are read
// backwards.
std::vector<int64_t> lengths(Keys a, Keys b, bool back) {
  const size_t words = (b.size() + 63) / 64;
  std::unordered_map<int, std::vector<uint64_t>> places;
  for (size_t j = 0; j < b.size(); ++j) {
    std::vector<uint64_t>& mask = places[back ? b[b.size() - 1 - j] : b[j]];
    mask.resize(words);
    mask[j / 64] |= uint64_t{1} << j % 64;
  }
  std::vector<uint64_t> row(words, ~uint64_t{0});  // a zero bit marks where the length grows
  for (size_t i = 0; i < a.size(); ++i) {
    const auto found = places.find(back ? a[a.size() - 1 - i] : a[i]);
    if (found == places.end()) continue;
    uint64_t carry = 0;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t hits = row[w] & found->second[w], sum = row[w] + hits, next = sum + carry;
      carry = (sum < hits || next < sum) ? 1 : 0;
      row[w] = next | (row[w] & ~hits);
    }
  }
  std::vector<int64_t> all{0};
  for (size_t j = 0; j < b.size(); ++j) all.push_back(all.back() + ((row[j / 64] >> j % 64 & 1) == 0));
  return all;
}

void solve_in_table(Keys a, Keys b, int64_t a0, int64_t b0, Pairs& pairs) {
  const size_t width = b.size() + 1;
  std::vector<int> table((a.size() + 1) * width);  // [i][j]: the length for a from i and b from j on
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      table[i * width + j] = a[i] == b[j] ? table[(i + 1) * width + j + 1] + 1
                                          : std::max(table[(i + 1) * width + j], table[i * width + j + 1]);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j])
      pairs.emplace_back(a0 + int64_t(i++), b0 + int64_t(j++));
    else if (table[(i + 1) * width + j] >= table[i * width + j + 1])
      ++i;
    else
      ++j;
  }
}

void solve(Keys a, Keys b, int64_t a0, int64_t b0, Pairs& pairs) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    pairs.emplace_back(a0++, b0++);
    a = a.subspan(1), b = b.subspan(1);
  }
  size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const int64_t a_end = a0 + int64_t(a.size() - tail), b_end = b0 + int64_t(b.size() - tail);
  a = a.first(a.size() - tail), b = b.first(b.size() - tail);
  if (!a.empty() && !b.empty()) {
    if (a.size() == 1 || (a.size() + 1) * (b.size() + 1) <= kTable) {
      solve_in_table(a, b, a0, b0, pairs);
    } else {
      const size_t half = a.size() / 2;
      const std::vector<int64_t> upper = lengths(a.first(half), b, false);
      const std::vector<int64_t> lower = lengths(a.subspan(half), b, true);
      size_t cut = 0;
      for (size_t j = 0; j <= b.size(); ++j)
        if (upper[j] + lower[b.size() - j] > upper[cut] + lower[b.size() - cut]) cut = j;
      solve(a.first(half), b.first(cut), a0, b0, pairs);
      solve(a.subspan(half), b.subspan(cut), a0 + int64_t(half), b0 + int64_t(cut), pairs);
    }
  }
  for (size_t i = 0; i < tail; ++i) pairs.emplace_back(a_end + int64_t(i), b_end + int64_t(i));
}

std::vector<std::string> texts(const std::vector<SourceLine>& lines) {
  std::vector<std::string> all;
  for (const SourceLine& line : lines) {
    const size_t end = line.text.find_last_not_of(" \t\r");
    all.push_back(line.text.substr(0, end == std::string::npos ? 0 : end + 1));
  }
  return all;
}

std::vector<std::string> normal_forms(const Listing& listing) {
  std::vector<std::string> all;
  for (const CodeLine& line : listing.lines) all.push_back(normal_form(line.text));
  return all;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "R12" → "R". Anything but a numbered register, predicate or barrier is unchanged.
std::string_view without_number(std::string_view word) {
  for (const std::string_view name : {"R", "UR", "P", "UP", "B", "SB"}) {
    const bool numbered = word.size() > name.size() && word.starts_with(name) &&
                          word.find_first_not_of("0123456789", name.size()) == std::string_view::npos;
    if (numbered) return word.substr(0, name.size());
  }
  return word;
}

}  // namespace

CodeDiff diff_of(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::unordered_map<std::string_view, int> numbers;
  const auto keys_of = [&](const std::vector<std::string>& lines) {
    std::vector<int> keys;
    for (const std::string& line : lines) keys.push_back(numbers.try_emplace(line, int(numbers.size())).first->second);
    return keys;
  };
  const std::vector<int> keys_a = keys_of(a), keys_b = keys_of(b);
  Pairs pairs;
  solve(keys_a, keys_b, 0, 0, pairs);
  CodeDiff diff;
  int64_t at_a = 0, at_b = 0;
  const auto up_to = [&](int64_t end_a, int64_t end_b) {
    for (; at_a < end_a; ++at_a, ++diff.removed) diff.rows.push_back({DiffSide::removed, at_a, -1});
    for (; at_b < end_b; ++at_b, ++diff.added) diff.rows.push_back({DiffSide::added, -1, at_b});
  };
  for (const auto& [of_a, of_b] : pairs) {
    up_to(of_a, of_b);
    diff.rows.push_back({DiffSide::same, at_a++, at_b++});
  }
  up_to(int64_t(a.size()), int64_t(b.size()));
  return diff;
}

std::vector<size_t> changed_rows(const CodeDiff& diff, size_t around) {
  std::vector<size_t> shown;
  size_t until = 0;  // rows before this one are shown
  for (size_t at = 0; at < diff.rows.size(); ++at) {
    if (diff.rows[at].side == DiffSide::same) continue;
    for (size_t row = std::max(until, at - std::min(at, around)); row <= std::min(at + around, diff.rows.size() - 1);
         ++row)
      shown.push_back(row);
    until = std::max(until, std::min(at + around, diff.rows.size() - 1) + 1);
  }
  return shown;
}

std::string normal_form(std::string_view sass) {
  std::string out;
  for (size_t at = 0; at < sass.size();) {
    if (sass.substr(at).starts_with("`(")) {  // a label
      const size_t end = sass.find(')', at);
      at = end == std::string_view::npos ? sass.size() : end + 1;
      out += "label";
      continue;
    }
    if (sass.substr(at).starts_with(".reuse")) {
      at += 6;
      continue;
    }
    size_t end = at;
    while (end < sass.size() && is_word(sass[end])) ++end;
    if (end == at) {
      if (sass[at] != ' ' || (!out.empty() && out.back() != ' ')) out += sass[at];
      ++at;
      continue;
    }
    out += without_number(sass.substr(at, end - at));
    at = end;
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  return out;
}

CodeDiff sass_diff(const Listing& a, const Listing& b) { return diff_of(normal_forms(a), normal_forms(b)); }

CodeDiff source_diff(const std::vector<SourceLine>& a, const std::vector<SourceLine>& b) {
  return diff_of(texts(a), texts(b));
}

}  // namespace attnscope::charts
