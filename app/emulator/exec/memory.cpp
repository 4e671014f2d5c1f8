#include "emulator/exec/memory.h"

#include <fmt/format.h>

namespace attnscope::emulator {

uint64_t GlobalMemory::add(std::string name, std::span<std::byte> host, bool writable, bool initial,
                           std::vector<bool>* written) {
  constexpr uint64_t page = 4096, window = uint64_t{1} << 32;
  const uint64_t needed = (host.size() + page - 1) / page * page + kGuardBytes;
  // Keeps a buffer that fits into 4 GiB from crossing a 4 GiB line, so that lanes' addresses share their upper word.
  if (next_ % window + needed > window && needed < window) next_ = (next_ / window + 1) * window;
  const uint64_t address = next_ + kGuardBytes;
  next_ = address + needed - kGuardBytes + window;
  buffers_.push_back({std::move(name), address, host.data(), host.size(), writable, initial, written});
  return address;
}

GlobalMemory::Spot GlobalMemory::spot_of(uint64_t address) const {
  const GlobalBuffer* nearest = nullptr;
  uint64_t best = UINT64_MAX;
  for (const GlobalBuffer& buffer : buffers_) {
    const uint64_t end = buffer.address + buffer.bytes;
    const uint64_t distance = address < buffer.address ? buffer.address - address
                              : address < end          ? 0
                                                       : address - end + 1;
    if (distance < best) {
      best = distance;
      nearest = &buffer;
    }
  }
  if (nearest == nullptr) return {};
  const std::string what = fmt::format("{} ({} bytes)", nearest->name, nearest->bytes);
  if (best == 0) return {fmt::format("byte {} of {}", address - nearest->address, what)};
  if (best > (uint64_t{1} << 32)) return {"near no buffer"};
  if (address < nearest->address) return {fmt::format("{} bytes before {}", best, what)};
  return {fmt::format("{} bytes past the end of {}", best - 1, what), Overrun{nearest->name, nearest->bytes, best - 1}};
}

}  // namespace attnscope::emulator
