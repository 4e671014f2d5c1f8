#include "core/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/joined.h"
#include "core/near.h"
#include "core/option_fields.h"

namespace attnscope {
namespace {

template <class Visit>
void visit_option(std::string_view name, Visit visit) {
  for_each_option([&](const char* key, const auto&, auto member) {
    if (name == key) visit(member);
  });
}

template <class M>
using Value = std::remove_cvref_t<decltype(std::declval<CompileOptions>().*std::declval<M>())>;

bool is_switch(std::string_view name) {
  bool found = false;
  visit_option(name, [&](auto member) { found = std::is_same_v<Value<decltype(member)>, bool>; });
  return found;
}

// The words of an enumeration, by value; of any other option none.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  visit_option(name, [&](auto member) {
    if constexpr (Worded<Value<decltype(member)>>)
      for (const auto& [value, word] : Words<Value<decltype(member)>>::table) words.emplace_back(word);
  });
  return words;
}

bool is_in_range(const OptionRow& row, int64_t value) {
  return value == 0 || (value >= row.least && value <= row.most);
}

OptionRow row_of(std::string_view name) {
  OptionRow row;
  for_each_field(FieldsOf<CompileOptions>::list, [&](const auto& option) {
    if (name == option.key) row = option.row;
  });
  return row;
}

}  // namespace

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for_each_option([&](const char* key, const auto&, auto) { names.emplace_back(key); });
  return names;
}

int64_t option_value(const CompileOptions& options, std::string_view name) {
  int64_t value = 0;
  visit_option(name, [&](auto member) { value = static_cast<int64_t>(options.*member); });
  return value;
}

void set_option(CompileOptions& options, std::string_view name, int64_t value) {
  visit_option(name, [&](auto member) { options.*member = static_cast<Value<decltype(member)>>(value); });
}

std::string option_value_text(std::string_view name, int64_t value) {
  if (const auto words = words_of(name); value >= 0 && value < std::ssize(words)) return words[size_t(value)];
  if (!is_switch(name)) return std::to_string(value);
  return value != 0 ? "on" : "off";
}

Json option_json(std::string_view name, int64_t value) {
  Json json;
  visit_option(name, [&](auto member) { json = fields::written(static_cast<Value<decltype(member)>>(value), {}); });
  return json;
}

std::string option_words(std::string_view name, int64_t value) {
  if (const std::string zero(row_of(name).zero); value == 0 && !zero.empty()) return zero;
  const std::string text = option_value_text(name, value);
  return words_of(name).empty() ? text : std::string(label(text));
}

std::string shown_option(const CompileOptions& options, std::string_view name) {
  return option_words(name, option_value(options, name));
}

std::vector<int64_t> offered_values(std::string_view name) {
  if (is_switch(name)) return {0, 1};
  if (const auto words = words_of(name); !words.empty()) {
    std::vector<int64_t> all(words.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const auto offered = row_of(name).offered;
  return {offered.begin(), offered.end()};
}

Result<void> check_options(const CompileOptions& options) {
  for (const std::string& name : option_names()) {
    const OptionRow row = row_of(name);
    if (const int64_t value = option_value(options, name); !is_in_range(row, value))
      return fail(Stage::input, fmt::format("{}: {} is outside {}…{}", name, value, row.least, row.most),
                  fmt::format("0 stands for {}.", row.stands_for));
  }
  return {};
}

Result<int64_t> option_value_from(std::string_view name, std::string_view text) {
  const std::vector<std::string> names = option_names();
  if (std::ranges::count(names, name) == 0)
    return fail(Stage::input, fmt::format("there is no compile option {}", name.substr(0, 100)),
                names_to_choose(std::string(name), names));
  if (is_switch(name)) {
    if (text == "on" || text == "true" || text == "1") return 1;
    if (text == "off" || text == "false" || text == "0") return 0;
    return fail(Stage::input, fmt::format("{}: \"{}\" is neither on nor off", name, text.substr(0, 100)),
                "Give on or off.");
  }
  if (const auto words = words_of(name); !words.empty()) {
    const auto found = std::ranges::find(words, text);
    if (found != words.end()) return found - words.begin();
    return fail(Stage::input, fmt::format("{}: \"{}\" is not one of {}", name, text.substr(0, 100), joined(words)),
                "Use one of " + joined(words) + ".");
  }
  int64_t value = -1;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  const OptionRow row = row_of(name);
  if (!whole || !is_in_range(row, value))
    return fail(Stage::input, fmt::format("{}: \"{}\" is no {}", name, text.substr(0, 100), row.what),
                fmt::format("Give 0 for {}, or {} to {}.", row.stands_for, row.least, row.most));
  return value;
}

Result<void> apply_option(CompileOptions& options, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return fail(Stage::input, fmt::format("\"{}\" is not NAME=VALUE", text.substr(0, 100)), "As maxrregcount=64.");
  auto value = option_value_from(text.substr(0, equals), text.substr(equals + 1));
  if (!value) return fail(value.error());
  set_option(options, text.substr(0, equals), *value);
  return {};
}

std::vector<std::string> option_words(const CompileOptions& options, const CompileOptions& usual) {
  std::vector<std::string> words;
  for (const std::string& name : option_names())
    if (const int64_t value = option_value(options, name); value != option_value(usual, name))
      words.push_back(name + "=" + option_value_text(name, value));
  return words;
}

}  // namespace attnscope
