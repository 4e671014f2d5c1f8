#pragma once
#include <cstddef>
#include <filesystem>

namespace attnscope::platform {

// How many GPUs NVIDIA's kernel driver lists and CUDA_VISIBLE_DEVICES leaves. A hint for how much to start before a
// worker has said which devices there are: 0 where the driver lists none, or lists them elsewhere.
size_t listed_gpus(const std::filesystem::path& list = "/proc/driver/nvidia/gpus");

}  // namespace attnscope::platform
