// SASS to a Program: each instruction is decoded by the row of the tested list with its spelling.
#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "emulator/isa/forms.h"
#include "emulator/isa/modifiers.h"
#include "emulator/isa/operands.h"
#include "emulator/isa/program.h"

namespace attnscope::emulator {

namespace {

using compile::SassInstruction;

// HFMA2 of -0 · 0 and a packed immediate: the compiler makes constants with it.
bool makes_constant(const SassInstruction& instruction) {
  const auto& ops = instruction.operands;
  return instruction.opcode == "HFMA2" && ops.size() == 5 && ops[1].raw == "-RZ" && ops[2].raw == "RZ" &&
         ops[3].is_float && ops[4].is_float && !has_modifier(instruction, "BF16_V2") &&
         !has_modifier(instruction, "RELU") && !has_modifier(instruction, "SAT");
}

// The hint for an instruction that is not executed, by the opcode's name as in the CUDA Binary Utilities.
std::string way_on(const SassInstruction& instruction) {
  struct Way {
    const char *opcodes, *words;  // separated by blanks
  };
  constexpr Way kWays[] = {
      {"TEX TLD TLD4 TMML TXD TXQ SUATOM SULD SURED SUST",
       "Textures and surfaces are not supported, here or on a GPU: a launch cannot pass them. Read a buffer instead, "
       "const T* __restrict__ or __ldg(), with the addressing that tex2D did."},
      {"SYNCS",
       "Of mbarriers the emulator has arrivals of one, of copies (cp.async) and waits; others, such as "
       "arrivals with a count or with bytes, only a GPU runs (--device cuda:0)."},
      {"UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAPF UTMAREDG UTMACMDFLUSH FENCE",
       "Bulk copies are not emulated; a GPU runs them (--device cuda:0). cp.async, cuda::memcpy_async() with a "
       "cuda::barrier or a cuda::pipeline, and __pipeline_commit() are."},
      {"UCGABAR_ARV UCGABAR_WAIT UCGABAR_GET UCGABAR_SET CGAERRBAR",
       "Thread block clusters are not supported: exchange through global memory, or give each CTA the whole work."},
  };
  const bool product = instruction.opcode == "IMMA" || instruction.opcode == "HMMA" || instruction.opcode == "BMMA";
  if (product && has_modifier(instruction, "SP"))
    return "Sparse products (mma.sp) are not emulated on any architecture; a GPU runs them (--device cuda:0).";
  if (instruction.opcode == "BMMA")
    return "Products of 1-bit numbers are not emulated on any architecture; a GPU runs them (--device cuda:0). Those "
           "of 4 and 8 bits are emulated.";
  for (const Way& way : kWays)
    if ((" " + std::string(way.opcodes) + " ").find(" " + instruction.opcode + " ") != std::string::npos)
      return way.words;
  return "Only tested instruction forms are executed. Another knob value or architecture may avoid this one.";
}

class Decoder {
 public:
  explicit Decoder(Program program) : program_(std::move(program)), operands_(program_) {}

  Result<std::shared_ptr<const Program>> decode() {
    const auto& instructions = program_.sass->instructions;
    if (instructions.empty()) return fail(Stage::decode, "The kernel has no instructions.", "Compile it again.");
    for (const SassInstruction& instruction : instructions) {
      if (auto done = one(instruction); !done) return fail(done.error());
    }
    if (program_.constants.size() > kMaxConstants) {
      return fail(Stage::decode,
                  fmt::format("{} uses {} distinct constants; the emulator holds {}.", program_.sass->kernel.name,
                              program_.constants.size(), kMaxConstants),
                  "Split the kernel, or report it.");
    }
    find_blocks(program_);
    return std::make_shared<const Program>(std::move(program_));
  }

 private:
  tl::unexpected<Failure> refuse(const SassInstruction& instruction, const std::string& what) const {
    return fail(Stage::decode,
                fmt::format("The emulator does not execute {} of {} (sm_{}), at byte {:#x}, {}: {}", what,
                            program_.sass->kernel.name, program_.sass->kernel.arch, instruction.offset,
                            line_name(*program_.sass, instruction.line), instruction.text),
                way_on(instruction));
  }

  // The kernel's other forms that are not on the list, so that the message names all of them.
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
    const std::string spelling = form_of(instruction);
    const Form* const form = makes_constant(instruction) ? find_form(kHalfConstant) : find_form(spelling);
    if (form == nullptr)
      return refuse(instruction, "the form \"" + spelling + "\"" + others_behind(instruction, spelling));
    Op op;
    op.index = static_cast<uint32_t>(program_.ops.size());
    op.family = form->family;
    op.row = form->row;
    op.dst = operands_.trash_register();
    op.a = op.b = op.c = operands_.zero_register();
    op.pred = static_cast<uint8_t>(instruction.predicate + (instruction.predicate_uniform ? kUniformPredicates : 0));
    op.pred_invert = instruction.predicate_negated;
    for (size_t i = 0; i < form->roles.size(); ++i) {
      if (const Refusal refusal = operands_.read(instruction, i, *form, op)) return refuse(instruction, refusal);
    }
    const Spelled spelled{instruction, static_cast<int>(program_.sass->kernel.arch)};
    op.flags |= common_flags(spelled);
    if (const Refusal refusal = form->decode(spelled, op)) return refuse(instruction, refusal);
    program_.ops.push_back(op);
    program_.classes.push_back(form->instruction_class);
    return {};
  }

  Program program_;
  Operands operands_;
};

}  // namespace

Result<std::shared_ptr<const Program>> decode(std::shared_ptr<const compile::SassProgram> sass) {
  Program program;
  program.sass = std::move(sass);
  return Decoder(std::move(program)).decode();
}

}  // namespace attnscope::emulator
