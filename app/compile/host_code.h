#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// NVRTC accepts only device code; a .cu file for nvcc also has its host side. Blanks whatever only a host compiler
// accepts (host functions, main, <<<>>> launches, variables and classes of host libraries): every character except line
// ends becomes a space, so that the rest keeps its lines and columns. Kernels, __device__ and constexpr functions,
// types, constants, templates and preprocessor lines stay. A source without host code, or one whose braces cannot be
// matched, is returned unchanged.
std::string without_host_code(std::string_view source);

}  // namespace attnscope::compile
