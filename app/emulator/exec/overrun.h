#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::emulator {

// An access past a buffer's end.
struct Overrun {
  std::string buffer;
  uint64_t bytes = 0;  // size of the buffer
  uint64_t past = 0;   // bytes from its end to the access
  bool operator==(const Overrun&) const = default;
};

// "12 bytes past the end of q (65536 bytes)", as in failures.
std::string text_of(const Overrun& overrun);
// Parses the first such text in a failure's message; empty if there is none.
std::optional<Overrun> overrun_in(std::string_view message);

}  // namespace attnscope::emulator
