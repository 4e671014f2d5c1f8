#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace attnscope::compile {

// What ptxas -v reports about one kernel.
struct PtxasFigures {
  int64_t registers = 0;
  int64_t stack_bytes = 0;                    // including called functions
  int64_t spill_stores = 0, spill_loads = 0;  // bytes per thread, for the kernel and the functions it calls
  int64_t shared_bytes = 0;
  int64_t barriers = 0;
};

// Empty if the log has no "Used … registers" line for `entry`.
std::optional<PtxasFigures> read_ptxas_log(const std::string& log, const std::string& entry);

// "(0xe020 bytes, 0xc000 max)": why ptxas refuses.
struct SharedRefusal {
  int64_t asked_bytes = 0;
  int64_t limit_bytes = 0;
};

// The figures of a kernel with too much static shared memory, if that is why the compilation failed. NVRTC 12.8 and
// 13.0 omit ptxas' sentence and give only the figures; they are recognised by the static limit, which has been the same
// on every architecture so far.
std::optional<SharedRefusal> find_shared_refusal(const std::string& log, const std::string& entry);

constexpr int64_t kStaticSharedLimit = 49152;  // bytes; CUDA programming guide, "Shared Memory" of every capability

}  // namespace attnscope::compile
