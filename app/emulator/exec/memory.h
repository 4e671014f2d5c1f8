#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::emulator {

// One buffer that a kernel may touch. The host memory is the caller's and must outlive every run that uses it.
struct GlobalBuffer {
  std::string name;
  uint64_t address = 0;  // as the kernel sees it
  std::byte* host = nullptr;
  uint64_t bytes = 0;
  bool writable = false;
  bool initial = true;  // holds something from the start: reading it before a write is no fault
};

// A device's global memory: buffers, and nothing between them. Any access that is not wholly inside one buffer is a
// Failure, so the guard zones need no memory: they are the addresses that no buffer has, at least kGuardBytes of them
// on both sides of each. The first 4 GiB are never given out.
class GlobalMemory {
 public:
  static constexpr uint64_t kGuardBytes = 1u << 20;

  // Places the buffer (256-byte aligned, as cudaMalloc does) and returns its address. `bytes` may be 0.
  uint64_t add(std::string name, std::span<std::byte> host, bool writable, bool initial = true);
  // A buffer that stands at `address` already: what a stand-in for a GPU gave out.
  void place(uint64_t address, std::string name, std::span<std::byte> host, bool writable) {
    buffers_.push_back({std::move(name), address, host.data(), host.size(), writable, true});
  }
  std::span<const GlobalBuffer> buffers() const { return buffers_; }
  // "12 bytes past the end of q (65,536 bytes at 0x…)"; where an address lies, for messages.
  std::string describe(uint64_t address) const;

 private:
  std::vector<GlobalBuffer> buffers_;
  uint64_t next_ = 0x7f0000000000;  // where the driver's own heap tends to lie
};

}  // namespace attnscope::emulator
