#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compile/sass.h"
#include "emulator/emulator.h"

namespace attnscope::emulator::testing {

constexpr uint32_t kOpcodeThreads = 512;

// One operation of a recorded kernel: words [first, first + words) of its results.
struct OpcodeCase {
  std::string name;
  uint32_t first = 0, words = 0;
  uint32_t ulp = 0;    // 0: bit-equal
  uint32_t arch = 80;  // the lowest that has it
};

// A kernel of tests/gpu/opcodes, with an H200's results.
struct OpcodeKernel {
  std::string name, kind;
  uint32_t words = 0;
  std::vector<OpcodeCase> cases;
  std::vector<uint32_t> results;  // [word][thread]
};

struct OpcodeRecording {
  std::vector<OpcodeKernel> kernels;
  std::vector<uint32_t> inputs(const std::string& kind) const;  // 8 words per thread
  std::vector<uint32_t> all_inputs;
};
// Read once; a recording that cannot be read ends the test program.
const OpcodeRecording& opcode_recording();

// Compilers with recorded code: nvcc 13.0 (the results come from its sm_90 code) and NVRTC 12.8, of the same source.
constexpr const char* kOpcodeCompilers[] = {"nvcc130", "nvrtc128"};
// A compiler's machine code for that architecture, in the recording's order.
const std::vector<std::shared_ptr<const compile::SassProgram>>& opcode_programs(
    int arch, const std::string& compiler = "nvcc130");

struct OpcodeRun {
  std::vector<uint32_t> words;  // [word][thread]
  RunResult run;
};
Result<OpcodeRun> run_opcode_kernel(const OpcodeKernel& kernel, std::shared_ptr<const compile::SassProgram> sass,
                                    RunOptions options = {});

}  // namespace attnscope::emulator::testing
