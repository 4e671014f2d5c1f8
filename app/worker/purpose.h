#pragma once

namespace attnscope::worker {

// What a worker's processes are for. One that profiles reads a GPU's hardware counters and times nothing on it; one
// that runs never loads the profiler.
enum class Purpose { run, profile };

inline constexpr const char* kProfileFlag = "--profile";  // of `attnscope worker`

}  // namespace attnscope::worker
