#pragma once
#include <string>
#include <vector>

namespace attnscope::fuzz {

// Readers of what a sweep takes and stores. Each returns "" if it accepts `input`, else the Failure's message. Accepted
// input is written and read again; a difference aborts.
std::string feed_space(const std::string& input);     // sweep --space, for a shipped kernel
std::string feed_recorded(const std::string& input);  // sweep --replay: a T4 file, or a cache file of Kernel Tuner
std::string feed_row(const std::string& input);       // the JSON of a row of results.sqlite

std::vector<std::string> recorded_seeds();
std::vector<std::string> row_seeds();

}  // namespace attnscope::fuzz
