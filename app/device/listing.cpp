#include "device/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "device/dependences.h"
#include "emulator/isa/fragments.h"

namespace attnscope::device {
namespace {

constexpr uint64_t kYieldBit = uint64_t{1} << 45;  // bit 109 of the encoding; if clear, the warp yields

// BSSY names the place where lanes reconverge and LEPC a return address; neither jumps.
bool jumps(const compile::SassInstruction& one) {
  constexpr std::string_view kJumps[] = {"BRA", "BRX", "JMP", "JMX", "CALL"};
  return std::ranges::find(kJumps, one.opcode) != std::end(kJumps);
}

bool falls_through(const compile::SassInstruction& one) {
  constexpr std::string_view kLeave[] = {"BRA", "BRX", "JMP", "JMX", "EXIT", "RET", "KILL"};
  const bool leaves = std::ranges::find(kLeave, one.opcode) != std::end(kLeave);
  const bool guarded = one.predicate != 7 || one.predicate_negated;
  const auto is_label = [](const compile::SassOperand& operand) { return operand.kind == compile::OperandKind::label; };
  // BRA.DIV UR4, label and BRA P0, label fall through if their condition is false.
  const bool conditional = one.opcode == "BRA" && !std::ranges::all_of(one.operands, is_label);
  return !leaves || guarded || conditional;
}

CodeControl control_of(const compile::SassInstruction& one) {
  return {one.control.stall,           (one.high & kYieldBit) == 0, one.control.write_scoreboard,
          one.control.read_scoreboard, one.control.wait_mask,       one.control.reuse};
}

CodeLine line_of(const compile::SassProgram& sass, const compile::SassInstruction& one) {
  CodeLine line;
  line.text = one.text;
  const auto place = [&](const compile::SassLine& at) {
    if (at.line != 0 && at.file < sass.files.size()) line.places.push_back({at.file, at.line});
  };
  place(one.line);
  std::ranges::for_each(one.inlined_at, place);
  line.control = control_of(one);
  line.guarded = one.predicate != 7;
  const auto target = [&](uint64_t offset) {
    if (offset / 16 < sass.instructions.size()) line.targets.push_back(static_cast<int64_t>(offset / 16));
  };
  if (jumps(one))
    for (const compile::SassOperand& operand : one.operands)
      if (operand.kind == compile::OperandKind::label && operand.value >= 0)
        target(static_cast<uint64_t>(operand.value));
  std::ranges::for_each(one.targets, target);
  line.falls_through = falls_through(one);
  return line;
}

void add_counts(Listing& listing, const CodeRun& run) {
  if (run.instructions.size() != listing.lines.size()) return;
  listing.counted = true;
  listing.emulated_ctas = run.emulated_ctas;
  listing.total_ctas = run.total_ctas;
  for (size_t i = 0; i < listing.lines.size(); ++i) {
    const emulator::InstructionCounters& did = run.instructions[i];
    listing.lines[i].counts = CodeCounts{double(did.issued), double(did.threads), double(did.wavefronts),
                                         double(did.ideal),  double(did.sectors), 0};
  }
  for (const auto& [instruction, steps] : run.shared) listing.lines.at(instruction).shared = steps;
  listing.places = run.places;
  for (const model::Stall& stall : run.stalls)
    if (stall.producer != model::Stall::kNone) listing.lines[stall.producer].counts->us += stall.time;
}

}  // namespace

Result<Listing> listing_of(const compile::SassProgram& sass, const emulator::Program* program, const CodeRun* run) {
  if (sass.instructions.size() > Listing::kMostLines)
    return fail(Stage::decode,
                fmt::format("{} has {} instructions; at most {} are listed", sass.kernel.name, sass.instructions.size(),
                            Listing::kMostLines),
                "Export it, and read the cubin with nvdisasm.");
  Listing listing;
  listing.files = sass.files;
  for (const compile::SassInstruction& one : sass.instructions) listing.lines.push_back(line_of(sass, one));
  if (program != nullptr && program->ops.size() == listing.lines.size()) {
    std::vector<ValuesOf> values = values_of(*program);
    for (size_t i = 0; i < values.size(); ++i) {
      listing.lines[i].reads = std::move(values[i].read);
      listing.lines[i].writes = std::move(values[i].written);
      listing.lines[i].fragments =
          emulator::fragments_of(sass.instructions[i], program->ops[i], program->lane_registers);
    }
  }
  if (run != nullptr) add_counts(listing, *run);
  return listing;
}

}  // namespace attnscope::device
