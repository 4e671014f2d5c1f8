#pragma once
#include <string>

#include "sweep/search.h"

namespace attnscope::cli {

// Every config of a sweep in the open format of autotuning results (search/t4.h).
Json t4_of(const sweep::Search& search);
// The same as a cache file of Kernel Tuner (search/kernel_tuner_cache.h).
std::string cache_of(const sweep::Search& search, const DeviceSpec& device);

// Replays the strategies on a recorded space and prints their scores (search/replay.h): those that need no model, and
// model-guided if the file has modelled times, which `cores` cores made. Returns the exit status.
int replay_t4(const std::string& file, size_t repeats, size_t cores, bool json);

}  // namespace attnscope::cli
