#pragma once

namespace CLI {
class Validator;
}

namespace attnscope::cli {

// Checks of an option's number. CLI11's own name the greatest double, in 309 digits, and take a negative whole number
// for a large one.
CLI::Validator above_zero();
CLI::Validator zero_or_more();

}  // namespace attnscope::cli
