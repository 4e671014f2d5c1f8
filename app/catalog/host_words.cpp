#include "catalog/host_words.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "catalog/number_literal.h"

namespace attnscope::catalog {
namespace {

constexpr int64_t kLargestLiteral = int64_t{1} << 53;

}  // namespace

bool is_ceil_div(const std::string& name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static const std::set<std::string> known{"ceil",  "ceildiv", "divceil",    "cdiv",
                                           "divup", "idivup",  "divroundup", "roundupdiv"};
  return known.contains(plain);
}

bool is_number_word(std::string_view word) {
  static const std::set<std::string_view> types{"int",     "unsigned", "long",   "short",   "float",
                                                "double",  "char",     "size_t", "int64_t", "uint64_t",
                                                "int32_t", "uint32_t", "uint",   "signed"};
  return types.contains(word);
}

std::optional<int64_t> whole_literal(std::string text) {
  std::erase(text, '\'');
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (!hexadecimal) text = without_suffix(std::move(text));
  if (!hexadecimal && is_octal(text)) return std::nullopt;
  const char *first = text.data() + (hexadecimal ? 2 : 0), *last = text.data() + text.size();
  while (hexadecimal && last > first && std::string_view("uUlL").find(last[-1]) != std::string_view::npos) --last;
  double value = 0;
  int64_t whole = 0;
  const auto [end, error] = hexadecimal ? std::from_chars(first, last, whole, 16) : std::from_chars(first, last, value);
  if (hexadecimal) value = static_cast<double>(whole);
  if (error != std::errc{} || end != last || value != std::floor(value) || std::abs(value) > double(kLargestLiteral))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

bool is_device_property(std::string_view word) {
  static const std::set<std::string_view> known{"maxThreadsPerBlock", "warpSize", "maxGridSize", "multiProcessorCount",
                                                "maxThreadsPerMultiProcessor"};
  return known.contains(word);
}

std::optional<int64_t> device_limit(std::string_view word, size_t axis) {
  if (word == "maxThreadsPerBlock") return 1024;
  if (word == "warpSize") return 32;
  if (word == "maxGridSize" && axis < 3) return axis == 0 ? 2147483647 : 65535;
  return std::nullopt;
}

}  // namespace attnscope::catalog
