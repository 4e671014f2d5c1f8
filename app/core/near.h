#pragma once
#include <string>
#include <vector>

namespace attnscope {

// A hint for a name that is not in `all`: "Did you mean tiled? Known: minimal, tiled." It suggests names up to two
// typing errors away (one for a short name), and names that begin with it or contain it.
std::string names_to_choose(const std::string& wanted, const std::vector<std::string>& all);

}  // namespace attnscope
