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
  uint32_t index = 0;           // the x of c[x][...]
  std::vector<std::byte> data;  // initial contents
};

// An address or a value that a loader fills in: c[4] holds addresses of __device__ variables and functions.
struct CubinRelocation {
  enum class Place : uint8_t { constant_bank, global_init, text };
  enum class Target : uint8_t { global_init, global, constant_bank, text, external, other };
  Place place = Place::constant_bank;
  uint32_t bank = 0;    // when place is constant_bank
  uint64_t offset = 0;  // where the value is written: bytes from the start of the place
  uint32_t type = 0;    // ELF type; 2 is a 64-bit absolute address, the only one seen in whole-program code
  Target target = Target::external;
  uint64_t value = 0;  // offset within the target, including the addend; the loader adds the target's base
  std::string symbol;  // for messages; "vprintf" and the like for external
};

// A __device__ or __constant__ variable.
struct CubinVariable {
  enum class Place : uint8_t { global_init, global, constant_bank };
  Place place = Place::global;
  uint32_t bank = 0;    // when place is constant_bank
  uint64_t offset = 0;  // bytes from the start of the place
  uint64_t size = 0;    // bytes
};

// What a cubin's ELF file contains about one kernel: everything that an executor needs besides the instructions.
struct CubinKernel {
  std::string name;                                // ELF symbol
  uint32_t arch = 0;                               // 80, 89, 90
  std::vector<std::byte> text;                     // .text.<name>: 16 bytes per instruction
  std::vector<ConstantBank> banks;                 // c[2], c[3], c[4]…; bank 0 is built at launch
  std::vector<std::byte> global_init;              // .nv.global.init: initialised __device__ variables
  uint64_t global_bytes = 0;                       // .nv.global: zero-initialised __device__ variables
  std::vector<CubinRelocation> relocations;        // to apply at load, sorted by place, bank and offset
  std::map<std::string, CubinVariable> variables;  // by ELF symbol
  uint32_t parameter_base = 0;  // offset of the parameter block in c[0]: 0x160 before sm_90, 0x210 on it
  uint32_t parameter_bytes = 0;
  std::vector<KernelParameter> parameters;  // sorted by ordinal
  uint32_t registers = 0;                   // per thread
  uint32_t frame_bytes = 0;                 // a thread's local stack, including called functions
  uint32_t static_shared_bytes = 0;         // by ptxas' count: .nv.shared.<name> without the system's part
  uint32_t shared_base = 0;  // where the kernel's shared memory starts in its window: 0x400 on sm_90, 0 before
  uint32_t barriers = 0;     // named barriers used
  uint32_t max_threads = 0;  // per CTA, from __launch_bounds__; 0 if not declared
  std::map<std::string, uint32_t> functions;  // FUNC symbols inside .text → byte offset
};

// Reads `cubin` (an ELF64 file of machine EM_CUDA) and finds the kernel whose symbol is `entry`; if `entry` is empty,
// its only kernel. Truncated or foreign bytes are a Failure (Stage::decode), never undefined behaviour: every offset is
// checked.
Result<CubinKernel> read_cubin(std::span<const std::byte> cubin, const std::string& entry);

}  // namespace attnscope::compile
