#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/sass.h"
#include "emulator/emulator.h"

namespace attnscope::emulator::testing {

struct TextOptions {
  uint32_t arch = 80;  // parameters at 0x160, or at 0x210 from sm_90 on
  uint32_t parameter_bytes = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t frame_bytes = 0;
};

// A program from handwritten SASS: one instruction per line, "name:" for a label, `(name) for its use. "# 0x3f800000"
// after an instruction gives the bits of its floating-point immediate. Line n of the text is source line n of k.cu; "@
// 3 20" after an instruction says line 3 instead, inlined at line 20. No assembler is needed: the emulator executes the
// text, so encodings are made up.
std::shared_ptr<const compile::SassProgram> from_text(const std::string& text, const TextOptions& options);

// The same, decoded; a test failure and nullptr if the emulator refuses it.
std::shared_ptr<const Program> program_of(const std::string& text, const TextOptions& options);

// Parameters as consecutive, naturally aligned 32- and 64-bit words.
class Parameters {
 public:
  Parameters& word(uint32_t value);
  Parameters& pointer(uint64_t value);
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

template <class T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

// CTAs of one warp that read `in`, their first parameter, and write `out`, their second.
struct InOut {
  std::shared_ptr<const Program> program;
  std::span<std::byte> in, out;
  uint32_t ctas = 1;
  std::vector<std::span<std::byte>> before = {};  // inputs whose addresses come before that of `in`
  std::vector<uint32_t> words = {};               // parameters after the addresses
};

// Runs it; the test fails if the run fails.
Result<RunResult> run_warps(const InOut& what, std::optional<HostIsa> isa = std::nullopt);

// The host instruction sets of this CPU.
std::vector<HostIsa> host_isas();

}  // namespace attnscope::emulator::testing
