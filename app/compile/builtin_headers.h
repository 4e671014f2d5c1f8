#pragma once
#include <span>
#include <string>

#include "cuda_api/nvrtc.h"

namespace attnscope::compile {

// What `#include <stdio.h>`, `<vector>`, `<torch/extension.h>` and the like find: NVRTC has no host headers. Headers
// whose contents device code may use (limits, fixed-width integers, std::min, type traits) have them. The others are
// empty: a source without its host code does not need them. CUDA's own headers are real files.
std::span<const cuda_api::NvrtcHeader> builtin_headers();
inline constexpr const char* kImpliedHeader = "attnscope/implied.h";  // implied_headers.h
bool is_builtin_header(const std::string& name);

}  // namespace attnscope::compile
