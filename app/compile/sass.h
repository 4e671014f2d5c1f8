#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/cubin.h"
#include "core/result.h"

namespace attnscope::compile {

enum class OperandKind : uint8_t {
  reg,           // R0…R254, RZ = 255
  uniform_reg,   // UR0…UR62, URZ = 63
  predicate,     // P0…P6, PT = 7
  uniform_pred,  // UP0…UP6, UPT = 7
  immediate,     // integer or floating-point bits as the text gives them (see `value`, `is_float`)
  constant,      // c[bank][register + offset], c[bank][UR + offset]
  address,       // [R + UR + offset], with .64, .X4 and the like, desc[UR][…] included
  special,       // SR_TID.X, SR_LANEID, …
  label,         // branch target: byte offset in .text, in `value`
  barrier,       // B0…B15 (BSSY, BSYNC)
  scoreboard,    // SB0…, DEPBAR
  text           // anything else, kept as written
};

// One operand as nvdisasm prints it, complete.
struct SassOperand {
  OperandKind kind = OperandKind::text;
  int reg = -1;  // register index for reg…uniform_pred, barrier; base register for constant and address; -1 none
  bool reg_is_uniform = false;  // the base of a constant or address is a uniform register
  int uniform_offset = -1;  // the second, uniform register of an address: [R2.64+UR4+0x10], or desc[UR4]'s value base
  int descriptor = -1;      // UR of desc[UR][…]
  int bank = -1;            // constant
  int64_t value = 0;        // immediate bits, constant or address offset in bytes (signed), label target in bytes
  bool is_float = false;    // the immediate was printed as a decimal number, INF or QNAN: `number` has it, and `value`
                            // has the encoded bits: of a float, of a double's upper half, or of one half
  double number = 0;
  bool negate = false;                 // leading -
  bool absolute = false;               // |x|
  bool invert = false;                 // ~x, or ! on a predicate
  bool reuse = false;                  // .reuse
  std::vector<std::string> modifiers;  // without the dot: H0_H0, H1_H1, F32, 64, U32, X4, X8, X16, B1 … (not reuse)
  std::string raw;                     // as printed
};

// The scheduling half of the 128-bit word (bits 105-125, the same on sm_80, sm_89 and sm_90).
struct SassControl {
  uint8_t stall = 0;             // cycles
  uint8_t write_scoreboard = 7;  // 7: none
  uint8_t read_scoreboard = 7;
  uint8_t wait_mask = 0;
  uint8_t reuse = 0;
};

struct SassLine {
  uint32_t file = 0;  // index into SassProgram::files
  uint32_t line = 0;  // 1-based; 0 unknown
  bool operator==(const SassLine&) const = default;
};

struct SassInstruction {
  uint32_t offset = 0;  // bytes from the kernel's first instruction
  int predicate = 7;    // guard P0…P6; 7 = PT
  bool predicate_negated = false;
  bool predicate_uniform = false;      // @UP0
  std::string opcode;                  // base: "LDG", "IMAD", "HFMA2"
  std::vector<std::string> modifiers;  // in order: {"E","128"}, {"WIDE","U32"}
  std::vector<SassOperand> operands;   // destinations first, in printed order
  std::vector<uint32_t> targets;       // BRX, JMX: possible targets, as byte offsets
  uint64_t low = 0, high = 0;          // the encoding
  SassControl control;
  SassLine line;
  std::vector<SassLine> inlined_at;  // innermost first
  std::string text;                  // as printed, without offset and encoding
};

inline bool has_modifier(const SassInstruction& instruction, std::string_view modifier) {
  return std::ranges::find(instruction.modifiers, modifier) != instruction.modifiers.end();
}

// The machine code of one kernel, decoded once. Immutable.
struct SassProgram {
  CubinKernel kernel;
  std::vector<std::string> files;             // source names of the line table
  std::vector<SassInstruction> instructions;  // instruction i is at byte 16·i
  std::string code_hash;
};

struct DisassemblerOptions {
  std::filesystem::path nvdisasm;   // empty: find_nvdisasm()
  std::filesystem::path cache_dir;  // decoded programs by code hash and line-table hash; empty: no disk cache
  int deadline_ms = 20000;
};

// Finds nvdisasm, in this order: $ATTNSCOPE_NVDISASM, the CUDA toolkit, attnscope's own cache, PATH.
Result<std::filesystem::path> find_nvdisasm();

// Decodes `entry` of the cubin from nvdisasm's text, or takes it from the disk cache.
Result<std::shared_ptr<const SassProgram>> disassemble(std::span<const std::byte> cubin, const std::string& entry,
                                                       const DisassemblerOptions& options);

// Only parses, for tests and for shipped decoded programs. `text` is what `nvdisasm -c -hex -gi` prints for the cubin
// (or the part with this kernel's section). Every encoding is compared with the kernel's bytes, so text of another
// cubin is a Failure (Stage::decode). An operand that is not understood is kept as OperandKind::text.
Result<SassProgram> parse_nvdisasm(const std::string& text, CubinKernel kernel);

}  // namespace attnscope::compile
