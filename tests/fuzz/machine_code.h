#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace attnscope::fuzz {

// Both read machine code from a shared cache. They return "" if it was accepted, else the Failure's message.

// A cubin: the container, then everything that is computed from its code.
std::string feed_cubin(std::span<const std::byte> cubin);

// Instructions as nvdisasm prints them, for the parser and then the emulator's decoder. A line of `text` is a label
// (".L_x_1:"), a location ("//## …") or an instruction: 32 digits of its encoding, a blank, its text. The first
// character of the first line is the architecture: 8 (sm_80), L (sm_89) or H (sm_90). Offsets and the rest of a listing
// are added here, so that a small change leaves a small kernel and not a listing that is refused at once.
std::string feed_instructions(const std::string& text);

}  // namespace attnscope::fuzz
