#pragma once
#include <cstdint>

#include "emulator/isa/op.h"

namespace attnscope::emulator {

struct HandlerPair {
  Handler full = nullptr;  // all 32 lanes
  Handler masked = nullptr;
};

struct HandlerTable {
  HandlerPair pairs[static_cast<int>(Family::count)][Variant::count];
  HandlerPair lop3[256][4];  // by look-up table: code for common ones without modified sources or a predicate result
};

// The host's instruction sets that the lane families are compiled for.
enum class HostIsa : uint8_t { baseline, avx2, avx512 };
HostIsa best_host_isa();
const HandlerTable& handlers(HostIsa isa);  // isa must be supported by this CPU

namespace baseline {
void fill_lanes(HandlerTable& table);
}
namespace avx2 {
void fill_lanes(HandlerTable& table);
}
namespace avx512 {
void fill_lanes(HandlerTable& table);
}
void fill_scalar(HandlerTable& table);

}  // namespace attnscope::emulator
