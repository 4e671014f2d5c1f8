#pragma once
#include <span>
#include <string>

#include "cuda_api/nvrtc.h"

namespace attnscope::compile {

// The headers that `#include <stdio.h>`, `<vector>`, `<torch/extension.h>` and the like find, because NVRTC has no host
// headers. Headers whose contents device code may use (limits, fixed-width integers, std::min, type traits) have them.
// The others are empty: a source without its host code does not need them. CUDA's own headers are real files.
std::span<const cuda_api::NvrtcHeader> builtin_headers();
inline constexpr const char* kImpliedHeader = "attnscope/implied.h";  // implied_headers.h
// CUB's device code, instead of cub/cub.cuh, which includes headers that only a host compiler accepts.
inline constexpr const char* kDeviceCub = R"(#pragma once
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
)";
bool is_builtin_header(const std::string& name);
// Whether the CUDA headers of this machine have a file of this name. False where there is no CUDA.
bool is_cuda_header(const std::string& name);

}  // namespace attnscope::compile
