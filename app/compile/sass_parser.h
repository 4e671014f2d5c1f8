#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// The part of nvdisasm's text for section .text.<kernel>, with runs of blanks reduced to one: what the disk cache
// stores. Empty if the text has no such section.
std::string kernel_section(std::string_view text, std::string_view kernel);

}  // namespace attnscope::compile
