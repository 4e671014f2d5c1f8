#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::emulator {

// An access behind a buffer's end.
struct Overrun {
  std::string buffer;
  uint64_t bytes = 0;  // of the buffer
  uint64_t past = 0;   // bytes between its end and the access
  bool operator==(const Overrun&) const = default;
};

// "12 bytes past the end of q (65536 bytes)", as failures say it.
std::string text_of(const Overrun& overrun);
// The first of these in a failure's message; empty if there is none.
std::optional<Overrun> overrun_in(std::string_view message);

}  // namespace attnscope::emulator
