#pragma once

namespace attnscope::worker {

// What a worker's processes do. `profile` reads a GPU's hardware counters and times nothing on it; `run` never loads
// the profiler; `emulate` has no GPU.
enum class Purpose { run, profile, emulate };

inline constexpr const char* kProfileFlag = "--profile";  // option of `attnscope worker`

}  // namespace attnscope::worker
