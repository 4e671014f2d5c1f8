#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace attnscope::fuzz {

// Both read machine code that came from a shared cache. "" when it was taken, else the Failure's message.

// A cubin: the container, then everything that is asked of the code in it.
std::string feed_cubin(std::span<const std::byte> cubin);

// Instructions as nvdisasm prints them, which the parser and then the emulator's decoder read. A line of `text` is a
// label (".L_x_1:"), a location ("//## …") or an instruction: 32 digits of its encoding, a blank, what it is. The first
// line's first character says the architecture: 8 (sm_80), L (sm_89) or H (sm_90). Offsets and the rest of a listing
// are put around it here, so that a small change leaves a small kernel and not a listing that is refused at once.
std::string feed_instructions(const std::string& text);

}  // namespace attnscope::fuzz
