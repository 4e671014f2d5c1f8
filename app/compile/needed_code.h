#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// A source without the declarations that the kernel `entry` does not reach by name, starting from the kernel's own:
// host helpers that look like device code, and other kernels. Blanks them as without_host_code does, so that the rest
// keeps its lines. Preprocessor lines and declarations without a plain name stay, and so does everything they name.
std::string only_needed(std::string_view source, std::string_view entry);

}  // namespace attnscope::compile
