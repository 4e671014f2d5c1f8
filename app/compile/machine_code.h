#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::compile {

// A kernel's machine code in a file that another compiler wrote.
struct MachineCode {
  int arch = 0;                      // compute capability × 10
  std::string symbol;                // the kernel in it
  std::span<const std::byte> cubin;  // a part of the file's bytes
};

// Finds `entry` in a cubin, a fatbinary, or an ELF file that contains fatbinaries (nvcc's linked output), for a GPU of
// compute capability `arch` / 10 (0: any). Machine code runs on its own capability and on later minor ones with the
// same major; of several matches the latest counts. `entry` is a kernel's symbol, or its plain C++ name if only one
// kernel has it; empty: the only kernel. Failures name `file`: Stage::decode for damaged or compressed contents,
// Stage::input for another architecture or an unknown name, with the existing names and architectures.
Result<MachineCode> machine_code_for(std::span<const std::byte> bytes, int arch, const std::string& entry,
                                     const std::string& file);

// The symbols of a cubin's kernels. Failure: Stage::decode.
Result<std::vector<std::string>> kernels_in(std::span<const std::byte> cubin);

}  // namespace attnscope::compile
