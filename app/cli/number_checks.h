#pragma once

namespace CLI {
class Validator;
}

namespace attnscope::cli {

// Checks for an option's number. CLI11's own checks print the largest double with 309 digits and accept a negative
// whole number as a large one.
CLI::Validator above_zero();
CLI::Validator zero_or_more();

}  // namespace attnscope::cli
