#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::emulator {

// One buffer that a kernel may access. The caller owns the host memory, which must outlive every run that uses it.
struct GlobalBuffer {
  std::string name;
  uint64_t address = 0;  // the address that the kernel uses
  std::byte* host = nullptr;
  uint64_t bytes = 0;
  bool writable = false;
  bool initial = true;  // has contents from the start, so that reading it before a write is not a fault
  // For a buffer without contents: for each byte, whether an earlier launch wrote it; a watched launch adds its own.
  // Null: none did.
  std::vector<bool>* written = nullptr;
};

// A device's global memory: buffers with unmapped gaps between them. Any access that is not inside one buffer is a
// Failure, so the guard zones need no memory: they are the addresses outside all buffers. There are at least
// kGuardBytes of them on both sides of each buffer, and 4 GiB more between two, so that an index that is a few times
// too large does not reach another buffer. The first 4 GiB are never used.
class GlobalMemory {
 public:
  static constexpr uint64_t kGuardBytes = 1u << 20;

  // Places the buffer (256-byte aligned, as cudaMalloc does) and returns its address. `bytes` may be 0.
  uint64_t add(std::string name, std::span<std::byte> host, bool writable, bool initial = true,
               std::vector<bool>* written = nullptr);
  // Adds a buffer at a given `address`, for a stand-in for a GPU.
  void place(uint64_t address, std::string name, std::span<std::byte> host, bool writable) {
    buffers_.push_back({std::move(name), address, host.data(), host.size(), writable, true, nullptr});
  }
  std::span<const GlobalBuffer> buffers() const { return buffers_; }
  // Where an address is.
  struct Spot {
    std::string text = "no buffer was given";  // "12 bytes past the end of q (65536 bytes)"
    std::optional<Overrun> overrun = {};       // if it is past a buffer's end
  };
  Spot spot_of(uint64_t address) const;

 private:
  std::vector<GlobalBuffer> buffers_;
  uint64_t next_ = 0x7f0000000000;  // near the usual place of the driver's heap
};

}  // namespace attnscope::emulator
