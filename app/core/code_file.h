#pragma once
#include <cstdint>
#include <string_view>

namespace attnscope {

inline constexpr uint64_t kMaxMachineCodeBytes = 8 << 20;  // also the limit for a message to a worker

// True if the file holds machine code (an ELF file such as a cubin, or a fatbinary) and not source. Source cannot begin
// like this: it is UTF-8 without control characters.
inline bool is_machine_code(std::string_view bytes) {
  return bytes.starts_with("\177ELF") || bytes.starts_with("\x50\xed\x55\xba");
}

}  // namespace attnscope
