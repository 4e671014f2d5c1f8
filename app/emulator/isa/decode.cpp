#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <set>

#include "emulator/isa/decode_general.h"
#include "emulator/isa/forms.h"
#include "emulator/isa/program.h"
#include "emulator/isa/tensor_sum.h"

namespace attnscope::emulator {

namespace {

using compile::OperandKind;
using compile::SassInstruction;
using compile::SassOperand;

constexpr uint32_t kMxcsrDefault = 0x1f80;  // exceptions masked, round to nearest
constexpr uint32_t kMxcsrFlush = 0x8040;    // flush subnormal results and operands to zero
constexpr uint32_t kMxcsrDown = 0x2000, kMxcsrUp = 0x4000, kMxcsrZero = 0x6000;

uint32_t special_slot(std::string_view name) {
  constexpr std::string_view names[] = {"SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId", "SR_SWINHI"};
  const auto found = std::find(std::begin(names), std::end(names), name);
  return offsetof(Registers, specials) + 4 * static_cast<uint32_t>(found - std::begin(names));
}

bool has(const SassInstruction& instruction, std::string_view modifier) {
  return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) != instruction.modifiers.end();
}

// Lanes to set when a<b, a=b, a>b and when unordered, by the comparison's name.
bool comparison(const SassInstruction& instruction, bool is_float, uint32_t (&select)[4]) {
  struct Name {
    std::string_view name;
    bool less, equal, greater, unordered;
  };
  constexpr Name names[] = {
      {"LT", 1, 0, 0, 0},  {"EQ", 0, 1, 0, 0},  {"LE", 1, 1, 0, 0},  {"GT", 0, 0, 1, 0},  {"NE", 1, 0, 1, 0},
      {"GE", 0, 1, 1, 0},  {"NUM", 1, 1, 1, 0}, {"NAN", 0, 0, 0, 1}, {"LTU", 1, 0, 0, 1}, {"EQU", 0, 1, 0, 1},
      {"LEU", 1, 1, 0, 1}, {"GTU", 0, 0, 1, 1}, {"NEU", 1, 0, 1, 1}, {"GEU", 0, 1, 1, 1},
  };
  for (const Name& name : names) {
    if (!has(instruction, name.name)) continue;
    select[0] = name.less ? kFull : 0, select[1] = name.equal ? kFull : 0, select[2] = name.greater ? kFull : 0;
    select[3] = name.unordered && is_float ? kFull : 0;
    return true;
  }
  return false;
}

class Decoder {
 public:
  explicit Decoder(std::shared_ptr<const compile::SassProgram> sass) { program_.sass = std::move(sass); }

  Result<std::shared_ptr<const Program>> decode() {
    const auto& instructions = program_.sass->instructions;
    if (instructions.empty()) return fail(Stage::decode, "The kernel has no instructions.", "Compile it again.");
    count_registers();
    for (const SassInstruction& instruction : instructions) {
      if (auto done = one(instruction); !done) return fail(done.error());
    }
    if (program_.constants.size() > kMaxConstants) {
      return fail(Stage::decode,
                  fmt::format("{} uses {} distinct constants; the emulator holds {}.", program_.sass->kernel.name,
                              program_.constants.size(), kMaxConstants),
                  "Split the kernel, or report it.");
    }
    find_blocks();
    return std::make_shared<const Program>(std::move(program_));
  }

 private:
  tl::unexpected<Failure> refuse(const SassInstruction& instruction, const std::string& what) const {
    const auto& files = program_.sass->files;
    const std::string where = instruction.line.line != 0 && instruction.line.file < files.size()
                                  ? fmt::format("{}:{}", files[instruction.line.file], instruction.line.line)
                                  : "an unknown source line";
    return fail(Stage::decode,
                fmt::format("The emulator does not execute {} of {} (sm_{}), at byte {:#x}, {}: {}", what,
                            program_.sass->kernel.name, program_.sass->kernel.arch, instruction.offset, where,
                            instruction.text),
                "Only tested instruction forms are executed. Another knob value or architecture may avoid this one.");
  }

  void count_registers() {
    uint32_t most = program_.sass->kernel.registers;
    for (const SassInstruction& instruction : program_.sass->instructions) {
      for (const SassOperand& operand : instruction.operands) {
        const bool lane = operand.kind == OperandKind::reg ||
                          ((operand.kind == OperandKind::address || operand.kind == OperandKind::constant) &&
                           !operand.reg_is_uniform);
        // Four: a 128-bit access names only its first register.
        if (lane && operand.reg >= 0 && operand.reg < 255)
          most = std::max(most, static_cast<uint32_t>(operand.reg) + 4);
      }
    }
    program_.lane_registers = std::min(most, 259u);
  }

  uint32_t lane_register(int index) const { return kLaneFileOffset + static_cast<uint32_t>(index) * 128; }
  uint32_t zero_register() const { return lane_register(static_cast<int>(program_.lane_registers)); }
  uint32_t source_register(int index) const { return index == 255 ? zero_register() : lane_register(index); }
  uint32_t target_register(int index) const {
    return index == 255 ? zero_register() + kZeroRegisters * 128 : lane_register(index);
  }
  static uint32_t uniform_register(int index) {
    return static_cast<uint32_t>(offsetof(Registers, ur)) + 4 * static_cast<uint32_t>(index);
  }
  static uint32_t target_uniform(int index) { return uniform_register(index == kUniformZero ? kUniformTrash : index); }
  static uint8_t predicate_slot(const SassOperand& operand, bool target) {
    const int index = target && operand.reg == kPredicateTrue ? kPredicateTrash : operand.reg;
    return static_cast<uint8_t>(index + (operand.kind == OperandKind::uniform_pred ? kUniformPredicates : 0));
  }

  // Constants that a pair reads stand next to each other.
  uint32_t constant(ConstantSource low, const ConstantSource* high = nullptr) {
    auto& all = program_.constants;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] == low && (high == nullptr || (i + 1 < all.size() && all[i + 1] == *high))) {
        return static_cast<uint32_t>(offsetof(Registers, constants) + 4 * i);
      }
    }
    all.push_back(low);
    if (high != nullptr) all.push_back(*high);
    return static_cast<uint32_t>(offsetof(Registers, constants) + 4 * (all.size() - (high != nullptr ? 2 : 1)));
  }

  struct Source {
    uint32_t offset = 0;
    bool one = false;
  };

  // Where a source operand is read; `wide` for 64 bits.
  Result<Source> source(const SassInstruction& instruction, const SassOperand& operand, bool wide) {
    switch (operand.kind) {
      case OperandKind::reg:
        return Source{source_register(operand.reg), false};
      case OperandKind::uniform_reg:
        return Source{uniform_register(operand.reg), true};
      case OperandKind::immediate: {
        ConstantSource low{-1, static_cast<uint32_t>(operand.value)};
        ConstantSource high{-1, static_cast<uint32_t>(static_cast<uint64_t>(operand.value) >> 32)};
        if (wide && operand.is_float) std::swap(low, high);  // a double's upper half
        return Source{constant(low, wide ? &high : nullptr), true};
      }
      case OperandKind::constant: {
        if (operand.value < 0 || operand.value > 0xffff || operand.value % 4 != 0) {
          return refuse(instruction, "the constant address");
        }
        const ConstantSource low{operand.bank, static_cast<uint32_t>(operand.value)};
        const ConstantSource high{operand.bank, static_cast<uint32_t>(operand.value) + 4};
        return Source{constant(low, wide ? &high : nullptr), true};
      }
      case OperandKind::special:
        if (operand.raw == "SR_LANEID") return Source{offsetof(Registers, lane_id), false};
        if (operand.raw.starts_with("SR_TID.")) {
          return Source{
              static_cast<uint32_t>(offsetof(Registers, tid)) + 128u * static_cast<uint32_t>(operand.raw.back() - 'X'),
              false};
        }
        return Source{special_slot(operand.raw), true};
      default:
        return refuse(instruction, "an operand");
    }
  }

  Result<void> set_source(const SassInstruction& instruction, const SassOperand& operand, const Form& form, char role,
                          Op& op) {
    if (role == 'e') {
      if (operand.kind != OperandKind::reg || operand.negate || operand.invert)
        return refuse(instruction, "an operand");
      op.e = source_register(operand.reg);
      return {};
    }
    const int slot = role == 'a' || role == 'w' ? 0 : role == 'b' || role == 'v' ? 1 : 2;
    uint32_t* const offsets[] = {&op.a, &op.b, &op.c};
    uint32_t* const ands[] = {&op.and_a, &op.and_b, &op.and_c};
    uint32_t* const xors[] = {&op.xor_a, &op.xor_b, &op.xor_c};
    uint8_t* const signs[] = {&op.sign_a, &op.sign_b, &op.sign_c};
    const auto where = source(instruction, operand, role == 'k' || role == 'w' || role == 'v');
    if (!where) return fail(where.error());
    *offsets[slot] = where->offset;
    if (form.family == Family::general) {
      op.one |= static_cast<uint8_t>(where->one << slot);
    } else if (where->one && !is_uniform(form.family)) {
      if (is_shuffle(form.family)) {
        op.variant |= slot == 1 ? 2 : 1;
      } else if ((op.variant & 3) != 0) {
        return refuse(instruction, "two shared operands");
      } else {
        op.variant |= static_cast<uint8_t>(slot + 1);
      }
    }
    const bool sign = form.modifiers == SourceModifiers::sign;
    if ((operand.negate && !sign && form.modifiers != SourceModifiers::negate) || (operand.absolute && !sign) ||
        (operand.invert && form.modifiers != SourceModifiers::invert)) {
      return refuse(instruction, "an operand modifier");
    }
    if (operand.absolute) *ands[slot] = 0x7fffffffu;
    if (operand.negate) *xors[slot] = sign ? 0x80000000u : kFull;
    if (operand.negate && !sign) *signs[slot] = 1;
    if (operand.invert) *xors[slot] = kFull;
    if (operand.absolute || operand.negate || operand.invert) op.variant |= Variant::modified;
    return {};
  }

  // HFMA2 of -0 · 0 and a packed immediate: how the compiler makes constants.
  static bool makes_constant(const SassInstruction& instruction) {
    const auto& ops = instruction.operands;
    return instruction.opcode == "HFMA2" && ops.size() == 5 && ops[1].raw == "-RZ" && ops[2].raw == "RZ" &&
           ops[3].is_float && ops[4].is_float && !has(instruction, "BF16_V2") && !has(instruction, "RELU") &&
           !has(instruction, "SAT");
  }

  static bool is_uniform(Family family) { return family >= Family::umov && family <= Family::ushf_r_u32_hi; }
  static bool is_shuffle(Family family) { return family >= Family::shfl_idx && family <= Family::shfl_bfly; }

  Result<void> set_address(const SassInstruction& instruction, const SassOperand& operand, Op& op) {
    if (operand.value < INT32_MIN || operand.value > INT32_MAX) return refuse(instruction, "an address offset");
    op.imm = static_cast<uint32_t>(operand.value);
    op.a = operand.reg >= 0 && !operand.reg_is_uniform ? source_register(operand.reg) : zero_register();
    const int uniform = operand.reg_is_uniform ? operand.reg : operand.uniform_offset;
    if (uniform >= 0) {
      op.flags |= op_address_uniform;
      op.b = uniform_register(uniform);
    }
    for (const std::string& modifier : operand.modifiers) {
      if (modifier == "X4") op.shift = 2;
      if (modifier == "X8") op.shift = 3;
      if (modifier == "X16") op.shift = 4;
    }
    op.flags |= op_touches_memory;
    return {};
  }

  Result<void> set_operand(const SassInstruction& instruction, const SassOperand& operand, const Form& form, char role,
                           Op& op) {
    switch (role) {
      case 'd':
        op.dst = target_register(operand.reg);
        return {};
      case 'D':
        op.dst = target_uniform(operand.reg);
        return {};
      case 'p':
        op.p = predicate_slot(operand, true);
        return {};
      case 'q':
        op.q = predicate_slot(operand, true);
        return {};
      case 'a':
      case 'b':
      case 'c':
      case 'k':
      case 'w':
      case 'v':
      case 'e':
        return set_source(instruction, operand, form, role, op);
      case 'x':
        op.x = predicate_slot(operand, false), op.x_invert = operand.invert;
        return {};
      case 'y':
        op.y = predicate_slot(operand, false), op.y_invert = operand.invert;
        return {};
      case 'z':
        op.z = predicate_slot(operand, false), op.z_invert = operand.invert;
        return {};
      case 'i':
        op.imm = static_cast<uint32_t>(operand.value);
        return {};
      case 'j':
        op.imm2 = static_cast<uint32_t>(operand.value);
        return {};
      case 'm':
        return set_address(instruction, operand, op);
      case 'B':
        op.barrier = static_cast<uint8_t>(operand.reg);
        return {};
      case 't':
        if (operand.value < 0 || operand.value % 16 != 0 ||
            static_cast<size_t>(operand.value) / 16 >= program_.sass->instructions.size()) {
          return refuse(instruction, "a branch target");
        }
        op.imm = static_cast<uint32_t>(operand.value / 16);
        return {};
      case 'N':
        if (operand.reg != kPredicateTrue || !operand.invert) return refuse(instruction, "the predicate operand");
        return {};
      case '0':
        if (operand.reg != 255 || operand.negate || operand.absolute)
          return refuse(instruction, "an operand other than RZ");
        return {};
      case '-':
        if (operand.reg != 255 || !operand.negate) return refuse(instruction, "an operand other than -RZ");
        return {};
      case 'h':
      case 'l':
      case 'X':
      case 'Y':
      case 'Z':
      case 'V':
        return set_half(instruction, operand, role, op);
      case 's':
        return {};
      case 'K':
        if (operand.value < 0 || operand.value > 0xffff) return refuse(instruction, "the constant address");
        op.a = operand.reg < 0          ? zero_register()
               : operand.reg_is_uniform ? uniform_register(operand.reg)
                                        : source_register(operand.reg);
        if (operand.reg_is_uniform) op.one |= 1;
        op.imm = static_cast<uint32_t>(operand.value);
        op.imm2 = static_cast<uint32_t>(operand.bank);
        return {};
      case 'G':
        if (operand.reg < 0 || operand.reg_is_uniform || operand.uniform_offset >= 0 || operand.value < INT32_MIN ||
            operand.value > INT32_MAX) {
          return refuse(instruction, "an address");
        }
        op.e = source_register(operand.reg);
        op.imm2 = static_cast<uint32_t>(operand.value);
        return {};
      default:
        return refuse(instruction, "an operand");
    }
  }

  // The constant's two halves; a NaN would come out as the canonical one, which no compiler asks for.
  Result<void> set_half(const SassInstruction& instruction, const SassOperand& operand, char role, Op& op) {
    const auto half = static_cast<uint32_t>(operand.value);
    const bool makes_constant = role == 'h' || role == 'l';
    if (half > 0xffff || (makes_constant && (half & 0x7fff) > 0x7c00)) return refuse(instruction, "a constant");
    const bool upper = role == 'h' || role == 'X' || role == 'Z';
    op.imm = upper ? half << 16 : op.imm | half;
    if (upper) return {};
    const uint32_t where = constant({-1, op.imm});
    if (role == 'l') op.a = where, op.variant |= Variant::a;
    if (role == 'Y') op.b = where, op.one |= 2;
    if (role == 'V') op.c = where, op.one |= 4;
    return {};
  }

  Result<void> apply_modifiers(const SassInstruction& instruction, Op& op) {
    const bool flush = has(instruction, "FTZ");
    switch (op.family) {
      case Family::fadd:
      case Family::fmul:
      case Family::ffma:
      case Family::fsetp:
        op.mxcsr = kMxcsrDefault | (flush ? kMxcsrFlush : 0) | (has(instruction, "RM") ? kMxcsrDown : 0) |
                   (has(instruction, "RP") ? kMxcsrUp : 0) | (has(instruction, "RZ") ? kMxcsrZero : 0);
        break;
      // FMNMX flushes by itself; the half conversions neither make nor take subnormal floats that matter.
      case Family::mufu_ex2:
      case Family::mufu_rcp:
        op.mxcsr = kMxcsrDefault;
        break;
      case Family::hmma:
      case Family::hmma_bf16:
      case Family::hmma_f16: {
        const TensorSum sum = tensor_sum(static_cast<int>(program_.sass->kernel.arch));
        op.imm = static_cast<uint32_t>(sum.depth);
        op.imm2 = static_cast<uint32_t>(sum.fraction_bits);
        op.bytes = has(instruction, "1688") ? 8 : 16;
        op.mxcsr = kMxcsrDefault;
        break;
      }
      default:
        break;
    }
    if (flush) op.flags |= op_ftz;
    if (has(instruction, "RELU")) op.flags |= op_relu;
    if (has(instruction, "COLLECTIVE")) op.flags |= op_collective;
    if (has(instruction, "ALL")) op.flags |= op_all;
    const bool extended = op.family == Family::general && instruction.opcode == "ISETP";
    const bool compares = op.family == Family::isetp || op.family == Family::uisetp || extended;
    const bool compares_floats =
        op.family == Family::fsetp ||
        (op.family == Family::general && !has(instruction, "MIN") && !has(instruction, "MAX") &&
         (instruction.opcode == "DSETP" || instruction.opcode == "FSET" || instruction.opcode == "HSET2" ||
          instruction.opcode == "HSETP2"));
    if (has(instruction, "U32")) {
      op.flags |= op_unsigned;
      if (compares) {  // biased, unsigned order is signed order
        op.xor_a = op.xor_b = 0x80000000u;
        if (!extended) op.variant |= Variant::modified;
      }
    }
    if (compares || compares_floats) {
      if (!comparison(instruction, compares_floats, op.select)) return refuse(instruction, "a comparison");
      op.logic = has(instruction, "OR") ? 1 : has(instruction, "XOR") ? 2 : 0;
    }
    if (op.family == Family::hadd2_f32) {
      op.imm = instruction.operands[2].modifiers[0] == "H1_H1" ? 16 : 0;
      if (op.xor_b != 0) op.xor_b = 0x80008000u;  // the signs of two halves
      if (op.and_b != kFull) op.and_b = 0x7fff7fffu;
    }
    // Carry inputs that the form does not name are off.
    const bool carries = op.family == Family::lea_hi || op.family == Family::lea_hi_sx32 ||
                         op.family == Family::ulea_hi || op.family == Family::ulea_hi_sx32 ||
                         op.family == Family::uiadd3;
    if (carries && !has(instruction, "X")) {
      op.x = op.y = kPredicateTrue;
      op.x_invert = op.y_invert = 1;
    }
    const bool shifts = op.family == Family::lea || op.family == Family::lea_carry || op.family == Family::lea_hi ||
                        op.family == Family::lea_hi_sx32 || op.family == Family::ulea || op.family == Family::ulea_hi ||
                        op.family == Family::ulea_hi_sx32;
    if (shifts && op.imm > 31) return refuse(instruction, "a shift");
    if ((op.family == Family::lop3 || op.family == Family::ulop3) && op.imm > 255)
      return refuse(instruction, "a table");
    const bool is_barrier =
        op.family == Family::bar_sync || op.family == Family::bar_arrive || op.family == Family::bar_reduce;
    if (is_barrier) {
      if (op.imm > 15) return refuse(instruction, "a barrier number");
      if (op.imm2 > 1024 || op.imm2 % 32 != 0) return refuse(instruction, "a number of threads");
      if (instruction.operands[0].kind == OperandKind::immediate) op.flags |= op_all;
      if (op.family == Family::bar_reduce) {
        op.imm2 |= (has(instruction, "POPC") ? 1u : has(instruction, "AND") ? 2u : 3u) << kBarrierResultShift;
      }
    }
    return {};
  }

  // The other forms of the kernel that are not on the list, so that one look tells all.
  std::string others_behind(const SassInstruction& first, const std::string& refused) const {
    std::set<std::string> others;
    for (const SassInstruction& instruction : program_.sass->instructions) {
      if (instruction.offset <= first.offset || makes_constant(instruction)) continue;
      const std::string spelling = form_of(instruction);
      if (spelling != refused && find_form(spelling) == nullptr) others.insert(spelling);
    }
    std::string text;
    for (const std::string& spelling : others) text += (text.empty() ? " (nor \"" : ", \"") + spelling + "\"";
    return text.empty() ? text : text + ")";
  }

  Result<void> one(const SassInstruction& instruction) {
    for (const SassOperand& operand : instruction.operands) {
      if (operand.kind == OperandKind::constant && operand.bank >= 0) {
        program_.reads_bank[static_cast<uint32_t>(operand.bank) % kConstantBanks] = true;
      }
    }
    const std::string spelling = form_of(instruction);
    const Form* form = makes_constant(instruction) ? find_form("HFMA2 constant") : find_form(spelling);
    if (form == nullptr)
      return refuse(instruction, "the form \"" + spelling + "\"" + others_behind(instruction, spelling));
    Op op;
    op.index = static_cast<uint32_t>(program_.ops.size());
    op.family = form->family;
    op.row = form->row;
    op.dst = target_register(255);
    op.a = op.b = op.c = zero_register();
    op.pred = static_cast<uint8_t>(instruction.predicate + (instruction.predicate_uniform ? kUniformPredicates : 0));
    op.pred_invert = instruction.predicate_negated;
    for (size_t i = 0; i < form->roles.size(); ++i) {
      if (auto done = set_operand(instruction, instruction.operands[i], *form, form->roles[i], op); !done) return done;
    }
    configure_memory(instruction, op);
    if (op.family == Family::general) {
      configure_general(instruction, static_cast<int>(program_.sass->kernel.arch), op);
    }
    if (instruction.opcode == "LEPC" && form->roles == "d") op.imm = op.index;
    if (auto done = apply_modifiers(instruction, op); !done) return done;
    program_.ops.push_back(op);
    program_.classes.push_back(form->instruction_class);
    return {};
  }

  void find_blocks() {
    const auto count = static_cast<uint32_t>(program_.ops.size());
    std::vector<bool> leader(count + 1, false);
    leader[0] = leader[count] = true;
    for (uint32_t i = 0; i < count; ++i) {
      const Op& op = program_.ops[i];
      if (!is_control(op.family)) continue;
      leader[i + 1] = true;
      // Lanes may come to these in groups, each of which enters anew: not at the run before, which all have behind
      // them.
      const bool parts = op.family == Family::ret || op.family == Family::brx || op.family == Family::call_absolute ||
                         op.family == Family::bsync || op.family == Family::warpsync;
      if (parts) leader[i] = true;
      const bool jumps = op.family == Family::bra || op.family == Family::bra_div || op.family == Family::bra_conv;
      if (jumps) leader[op.imm] = true;
    }
    for (const auto& instruction : program_.sass->instructions) {  // calls by address may return to any label
      if (instruction.opcode != "LEPC") continue;
      if (instruction.operands.size() == 2) leader[static_cast<size_t>(instruction.operands[1].value) / 16] = true;
    }
    const bool has_tables =
        std::any_of(program_.ops.begin(), program_.ops.end(), [](const Op& op) { return op.family == Family::brx; });
    for (const auto& bank :
         program_.sass->kernel.banks) {  // jump tables: whatever may be an instruction's place may be a target
      if (!has_tables || bank.index != 2) continue;
      for (size_t at = 0; at + 4 <= bank.data.size(); at += 4) {
        uint32_t offset;
        std::memcpy(&offset, bank.data.data() + at, 4);
        if (offset % 16 == 0 && offset / 16 < count) leader[offset / 16] = true;
      }
    }
    for (const auto& [name, offset] : program_.sass->kernel.functions) {
      if (offset / 16 < count) leader[offset / 16] = true;
    }
    program_.block_of.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      if (leader[i]) program_.blocks.push_back({i, 0});
      ++program_.blocks.back().count;
      program_.block_of[i] = static_cast<uint32_t>(program_.blocks.size() - 1);
    }
  }

  Program program_;
};

}  // namespace

std::string source_of(const Program& program, uint32_t op) {
  const auto& sass = *program.sass;
  if (op >= sass.instructions.size()) return "an unknown source line";
  const SassInstruction& instruction = sass.instructions[op];
  const auto name = [&](const compile::SassLine& line) {
    return line.line != 0 && line.file < sass.files.size() ? fmt::format("{}:{}", sass.files[line.file], line.line)
                                                           : std::string("an unknown source line");
  };
  std::string text = name(instruction.line);
  const auto& callers = instruction.inlined_at;
  // A library's code is many calls deep: its own line and the kernel's tell where it is.
  if (callers.size() > 3) return fmt::format("{}, {} calls below {}", text, callers.size(), name(callers.back()));
  for (const compile::SassLine& caller : callers) text += ", inlined at " + name(caller);
  return text;
}

Result<std::shared_ptr<const Program>> decode(std::shared_ptr<const compile::SassProgram> sass) {
  return Decoder(std::move(sass)).decode();
}

}  // namespace attnscope::emulator
