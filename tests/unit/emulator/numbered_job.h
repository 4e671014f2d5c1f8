#pragma once
#include <string>
#include <vector>

#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {

// Each CTA writes its number to out[CTA], after `work` (hexadecimal) additions.
inline std::string numbering(const std::string& work) {
  return R"(S2R R0, SR_CTAID.X
S2R R1, SR_CTAID.Y
IMAD R0, R1, c[0x0][0xc], R0
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
MOV R6, RZ
again:
IADD3 R6, R6, 0x1, RZ
ISETP.LT.AND P0, PT, R6, )" +
         work + R"(, PT
@P0 BRA `(again)
STG.E [R4.64], R0
EXIT)";
}

struct Numbered {
  std::vector<uint32_t> out = std::vector<uint32_t>(24, 99);
  GlobalMemory memory;
  Launch launch;
  explicit Numbered(const std::string& work = "0x4") {
    launch.program = program_of(numbering(work), {.parameter_bytes = 8});
    launch.grid = {6, 4, 1};
    launch.block = {32, 1, 1};
    launch.parameters = Parameters().pointer(memory.add("out", bytes_of(out), true)).bytes();
    launch.memory = &memory;
  }
};

}  // namespace attnscope::emulator::testing
