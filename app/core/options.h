#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_fwd.h"
#include "core/kernel.h"
#include "core/result.h"

namespace attnscope {

// Compile options by name, with a number for each value: 1 and 0 where it is on or off, and a word's place in its list.

std::vector<std::string> option_names();
// `name` must be one of option_names().
int64_t option_value(const CompileOptions& options, std::string_view name);
void set_option(CompileOptions& options, std::string_view name, int64_t value);
// "on", "off", the word, or the number.
std::string option_value_text(std::string_view name, int64_t value);
// The value as CompileOptions' JSON has it: true, a word or a number.
Json option_json(std::string_view name, int64_t value);
// The value as shown to a person: "on", "off", the word, the number, or the meaning of 0, such as "none".
std::string option_words(std::string_view name, int64_t value);
std::string shown_option(const CompileOptions& options, std::string_view name);
// The values that the window offers; 0 and 1 for a switch.
std::vector<int64_t> offered_values(std::string_view name);
// Failure (Stage::input) that names an option whose number is too low or too high.
Result<void> check_options(const CompileOptions& options);

// on, off, true, false, a word or a number, as a person writes the value of that option. Failure (Stage::input): no
// such option, or not its value.
Result<int64_t> option_value_from(std::string_view name, std::string_view text);
// Applies NAME=VALUE from the command line to `options`.
Result<void> apply_option(CompileOptions& options, std::string_view text);

// {"maxrregcount=64", …}: the options that differ from `usual`.
std::vector<std::string> option_words(const CompileOptions& options, const CompileOptions& usual);

}  // namespace attnscope
