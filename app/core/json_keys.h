#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// The keys of the object at `member` of the outermost object, in the order of the text, which Json does not keep. Empty
// if there is no such object, or the text is not JSON.
std::vector<std::string> keys_of_member(std::string_view text, const std::string& member);

}  // namespace attnscope
