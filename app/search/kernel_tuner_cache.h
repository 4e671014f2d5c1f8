#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/recorded.h"
#include "search/t4.h"

namespace attnscope::search {

// The cache file of Kernel Tuner (checked with 1.5.0), which its dashboard and its simulation mode read:
// {"device_name", "kernel_name", "problem_size", "tune_params_keys": [knob], "tune_params": {knob: [value]},
//  "objective": "time", "cache": {"16,cta": {"BLOCK_M": 16, "SYNC_POLICY": "cta", "time": 0.08, "times": [0.08],
//  "compile_time": 250, "verification_time": 0, "benchmark_time": 0.08, ...}}}, all times in ms. A config without a
//  time
// has a word in its place, such as "InvalidConfig".
inline constexpr const char* kCache = "cache";

struct CacheHead {
  std::string kernel, device;
  std::vector<int64_t> sizes;                                     // of the problem; at most three, as a grid has
  std::vector<std::pair<std::string, std::vector<Json>>> values;  // of each knob
};
// Ends in "}\n}", by which Kernel Tuner and the dashboard know a file that is closed. Each result has a value for every
// knob of the head.
std::string cache_text(const CacheHead& head, const std::vector<T4Result>& results);

bool is_cache(const Json& json);
// The text of a cache file with the brackets that an unfinished run leaves out.
std::string closed_cache(std::string_view text);
// The points are the entries in the order of `keys`, which are all the cache's. A Failure (Stage::input) names the file
// and the place of what is missing or is no time, or of two entries for one config.
Result<Recorded> recorded_from_cache(const Json& json, const std::vector<std::string>& keys, const std::string& where);

}  // namespace attnscope::search
