#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// The part of nvdisasm's text for section .text.<kernel>, with runs of blanks squeezed: what the disk cache keeps.
// Empty when the text has no such section.
std::string kernel_section(std::string_view text, std::string_view kernel);

}  // namespace attnscope::compile
