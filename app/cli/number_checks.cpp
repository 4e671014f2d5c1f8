#include "cli/number_checks.h"

#include <CLI/CLI.hpp>
#include <string>

namespace attnscope::cli {
namespace {

// NaN is outside every range.
template <class Wanted>
CLI::Validator number_check(const char* words, const char* type, Wanted wanted) {
  return {[=](std::string& text) {
            double number = 0;
            const bool read = CLI::detail::lexical_cast(text, number);
            return read && wanted(number) ? std::string() : "\"" + text + "\" is not a number " + words;
          },
          type};
}

}  // namespace

CLI::Validator above_zero() {
  return number_check("above 0", "POSITIVE", [](double number) { return number > 0; });
}
CLI::Validator zero_or_more() {
  return number_check("of 0 or more", "NONNEGATIVE", [](double number) { return number >= 0; });
}

}  // namespace attnscope::cli
