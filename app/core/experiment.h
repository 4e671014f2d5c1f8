#pragma once
#include <string>

#include "core/config.h"
#include "core/json_fwd.h"
#include "core/problem.h"
#include "core/words.h"

namespace attnscope {

// What the GPU's caches hold before a timed launch: `hot`, whatever the previous launch left; `cold`, none of the
// operands.
enum class CacheState { hot, cold };
template <>
struct Words<CacheState> : NamesAsWords<CacheState> {};

struct MeasurePolicy {
  CacheState cache = CacheState::hot;
  double sampled_share = 1.0;  // emulated: share of the CTAs to run, (0, 1]
  int64_t max_time_ms = 2000;  // measured: stop narrowing the interval after this time
  bool operator==(const MeasurePolicy&) const = default;
};

// An experiment as a person requests it, not yet validated.
struct Draft {
  Problem problem;
  std::string kernel;  // kernel id
  Config config;       // missing knobs take the kernel's defaults
  std::string device;
  MeasurePolicy measure;
  bool operator==(const Draft&) const = default;
};

// A completed and validated draft, with the version of its kernel. Immutable.
struct Experiment : Draft {
  std::string kernel_hash;  // Kernel::content_hash
  bool operator==(const Experiment&) const = default;
};

// XXH3-128, in hex, of the canonical JSON.
std::string hash_of(const Experiment& experiment);
Json to_json(const Experiment& experiment);  // without "hash"
Result<Experiment> experiment_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
