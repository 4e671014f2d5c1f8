#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// A kernel's source is one file, so a variable that it only declares, as in `extern __constant__ float weights[16];`,
// has no definition anywhere. Blanks the `extern` of the first such declaration of each name, which makes it the
// definition; every other character keeps its place. A name that the source defines is left unchanged.
std::string with_extern_variables_defined(std::string_view source);

}  // namespace attnscope::compile
