#pragma once
#include <string>
#include <vector>

namespace attnscope {

// A hint for a name that is none of `all`: "Did you mean tiled? Known: minimal, tiled." Near are those that two typing
// errors, or one in a short name, make of it, and those that begin with it or hold it.
std::string names_to_choose(const std::string& wanted, const std::vector<std::string>& all);

}  // namespace attnscope
