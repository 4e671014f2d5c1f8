#include "core/near.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <utility>

#include "core/escape.h"
#include "core/joined.h"

namespace attnscope {
namespace {

constexpr size_t kLongest = 100;  // characters of a name that is compared; a longer one is not a typing error
constexpr size_t kMostNear = 3, kMostKnown = 50;

std::string small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// How many letters must be inserted, removed or replaced (Levenshtein distance), computed row by row.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, corner + 1, row[j] + 1});
    }
  }
  return row.back();
}

bool near(const std::string& wanted, const std::string& name) {
  if (wanted.empty() || wanted.size() > kLongest || name.size() > kLongest) return false;
  if (distance(wanted, name) <= (wanted.size() < 5 ? 1u : 2u)) return true;
  return wanted.size() >= 3 && name.find(wanted) != std::string::npos;
}

std::string listed(const std::vector<std::string>& names, size_t most) {
  const std::string shown = joined(std::span(names).first(std::min(names.size(), most)), one_line);
  return names.size() > most ? shown + ", …" : shown;
}

}  // namespace

std::string names_to_choose(const std::string& wanted, const std::vector<std::string>& all) {
  std::vector<std::string> close;
  for (const std::string& name : all)
    if (near(small_letters(wanted), small_letters(name))) close.push_back(name);
  const std::string known = "Known: " + (all.empty() ? "none" : listed(all, kMostKnown)) + ".";
  return close.empty() ? known : "Did you mean " + listed(close, kMostNear) + "? " + known;
}

}  // namespace attnscope
