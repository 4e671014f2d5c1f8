#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// A source without the declarations that the kernel `entry` does not reach by name, from one declaration to the next:
// host helpers that look like device code, and kernels beside it. Blanks them as without_host_code does, so the rest
// keeps its lines. Preprocessor lines and whatever declares no plain name stay, and so does all they name.
std::string only_needed(std::string_view source, std::string_view entry);

}  // namespace attnscope::compile
