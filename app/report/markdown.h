#pragma once
#include <string>
#include <vector>

namespace attnscope::report {

// A line of a Markdown table with its cells escaped; and the rule under its header.
std::string markdown_line(const std::vector<std::string>& line);
std::string rule(size_t columns);

}  // namespace attnscope::report
