// The driver's functions that kernels call: printf and assert. Arguments follow the device ABI, as found in compiled
// code: R4:R5 the first pointer, R6:R7 the second, then R8 and on.
#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "compile/compile_errors.h"
#include "emulator/exec/cta.h"

namespace attnscope::emulator {

namespace {

uint32_t lane_word(Warp& warp, uint32_t reg, uint32_t lane) {
  uint32_t value;
  std::memcpy(&value, bytes_of(warp) + kLaneFileOffset + reg * 128 + 4 * lane, 4);
  return value;
}
uint64_t lane_pair(Warp& warp, uint32_t reg, uint32_t lane) {
  return lane_word(warp, reg, lane) | static_cast<uint64_t>(lane_word(warp, reg + 1, lane)) << 32;
}

// Reads a byte of global memory or of this lane's local memory. Returns false if the address is invalid.
bool read_byte(Warp& warp, uint32_t lane, uint64_t address, uint8_t& byte) {
  if (address >> 32 == kLocalWindow >> 32) {
    const uint32_t at = static_cast<uint32_t>(address);
    if (at >= warp.local_bytes) return false;
    byte = warp.local[at / 4 * 128 + lane * 4 + at % 4];
    return true;
  }
  const MemoryRange* range = find_range(*warp.machine, address);
  if (range == nullptr) return false;
  byte = range->host[address - range->address];
  return true;
}
std::string read_text(Warp& warp, uint32_t lane, uint64_t address) {
  constexpr size_t kMost = 1024;
  std::string text;
  for (uint8_t byte; text.size() < kMost && read_byte(warp, lane, address + text.size(), byte) && byte != 0;)
    text += static_cast<char>(byte);
  return text;
}
uint64_t read_argument(Warp& warp, uint32_t lane, uint64_t& address, uint32_t bytes) {
  address = (address + bytes - 1) / bytes * bytes;
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    uint8_t byte = 0;
    read_byte(warp, lane, address + i, byte);
    value |= static_cast<uint64_t>(byte) << (8 * i);
  }
  address += bytes;
  return value;
}

// Formats like C's printf. The arguments are consecutive and naturally aligned; floats are doubles.
std::string formatted(Warp& warp, uint32_t lane, const std::string& format, uint64_t arguments) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const size_t end = format.find_first_of("diouxXcsfFeEgGaAp%", i + 1);
    if (end == std::string::npos) return out + format.substr(i);
    std::string flags;
    bool wide = false;
    for (size_t k = i + 1; k < end; ++k) {
      const char c = format[k];
      if (c == 'l') wide |= true;
      if (c == '*') flags += std::to_string(static_cast<int32_t>(read_argument(warp, lane, arguments, 4)));
      if (std::strchr("-+ #0.123456789", c) != nullptr) flags += c;
    }
    const char kind = format[end];
    i = end;
    if (kind == '%') {
      out += '%';
      continue;
    }
    // The width is limited, so that the output is too.
    constexpr size_t kLongestFlags = 8, kMostDigits = 3;
    size_t digits = 0;
    for (const char c : flags) digits = c >= '0' && c <= '9' ? digits + 1 : c == '.' ? 0 : digits;
    if (flags.size() > kLongestFlags || digits > kMostDigits) flags.clear();
    char text[512] = {};
    const auto print = [&](const std::string& spec, auto value) {
      std::snprintf(text, sizeof text, spec.c_str(), value);
    };
    if (kind == 's') {
      const std::string value = read_text(warp, lane, read_argument(warp, lane, arguments, 8));
      print("%" + flags + "s", value.c_str());
    } else if (std::strchr("fFeEgGaA", kind) != nullptr) {
      const uint64_t bits = read_argument(warp, lane, arguments, 8);
      double value;
      std::memcpy(&value, &bits, 8);
      print("%" + flags + kind, value);
    } else if (kind == 'p') {
      print("%#" + flags + "llx", static_cast<unsigned long long>(read_argument(warp, lane, arguments, 8)));
    } else if (wide) {
      print("%" + flags + "ll" + kind, static_cast<long long>(read_argument(warp, lane, arguments, 8)));
    } else {
      print("%" + flags + kind, static_cast<int>(read_argument(warp, lane, arguments, 4)));
    }
    out += text;
  }
  return out;
}

}  // namespace

void call_external(Warp& warp, uint32_t function, uint32_t lane, const Op& op) {
  auto& log = *static_cast<CtaLog*>(warp.machine->log);
  if (static_cast<External>(function) == External::vprintf) {
    const std::string format = read_text(warp, lane, lane_pair(warp, 4, lane));
    if (log.calls.size() < CtaLog::kMostCalls)
      log.calls.push_back({log.cta, formatted(warp, lane, format, lane_pair(warp, 6, lane))});
    else
      ++log.more;
    return;
  }
  const std::string file = compile::without_source_root(read_text(warp, lane, lane_pair(warp, 6, lane)));
  log.calls.push_back(
      {log.cta, fmt::format("{} ({}:{}, {})", read_text(warp, lane, lane_pair(warp, 4, lane)), file,
                            lane_word(warp, 8, lane), read_text(warp, lane, lane_pair(warp, 10, lane)))});
  warp.machine->fault = {FaultKind::assertion, op.index, static_cast<int>(lane), 0, 0};
}

}  // namespace attnscope::emulator
