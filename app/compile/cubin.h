#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::compile {

struct KernelParameter {
  uint32_t ordinal = 0;
  uint32_t offset = 0;  // bytes from the start of the parameter block
  uint32_t size = 0;    // bytes
};

struct ConstantBank {
  uint32_t index = 0;          // the x of c[x][...]
  std::vector<std::byte> data;  // initial contents
};

// What a cubin's ELF says of one kernel. Everything an executor needs beside the instructions.
struct CubinKernel {
  std::string name;                 // ELF symbol
  uint32_t arch = 0;                // 80, 89, 90
  std::vector<std::byte> text;      // .text.<name>: 16 bytes an instruction
  std::vector<ConstantBank> banks;  // c[2], c[3], c[4]…; bank 0 is built at launch
  std::vector<std::byte> global_init;        // .nv.global.init
  uint32_t parameter_base = 0;      // offset of the parameter block in c[0]: 0x160 before sm_90, 0x210 on it
  uint32_t parameter_bytes = 0;
  std::vector<KernelParameter> parameters;   // sorted by ordinal
  uint32_t registers = 0;           // per thread
  uint32_t frame_bytes = 0;         // local stack of a thread
  uint32_t static_shared_bytes = 0;  // size of .nv.shared.<name>
  uint32_t barriers = 0;            // named barriers used
  std::map<std::string, uint32_t> functions;  // FUNC symbols inside .text → byte offset
};

// Reads `cubin` (an ELF64 of machine EM_CUDA) and finds the kernel whose symbol is `entry`; with an empty entry the only
// kernel. Truncated or foreign bytes are a Failure (Stage::decode), never undefined behaviour: every offset is checked.
Result<CubinKernel> read_cubin(std::span<const std::byte> cubin, const std::string& entry);

// XXH3-128 in hex over all that decides what runs (text, constant banks, initial data, shared size, parameter layout) and
// nothing else (no line table, no path, no symbol name): two variants with equal code_hash are the same machine code.
std::string code_hash(const CubinKernel& kernel);

}  // namespace attnscope::compile
