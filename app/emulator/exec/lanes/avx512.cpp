// The lane handlers for AVX-512 F, BW, DQ, VL. Built with that set's compiler flags (app/CMakeLists.txt), so this file
// must not contain inline functions that other translation units share: only intrinsics and the plain data of warp.h.
#include <immintrin.h>

#include "emulator/exec/approximation_tables.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/tensor_core.h"
#include "emulator/exec/warp.h"

#define ATTNSCOPE_LANES 2
namespace attnscope::emulator::avx512 {
namespace {
// Each file needs those before it.
// clang-format off
#include "emulator/exec/lanes/vector.inc"
#include "emulator/exec/lanes/alu.inc"
#include "emulator/exec/lanes/mufu.inc"
#include "emulator/exec/lanes/memory.inc"
#include "emulator/exec/lanes/tiles.inc"
#include "emulator/exec/lanes/tensor.inc"
#include "emulator/exec/lanes/table.inc"
// clang-format on
}  // namespace
void fill_lanes(HandlerTable& table) { fill(table); }
}  // namespace attnscope::emulator::avx512
