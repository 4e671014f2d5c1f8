#include "emulator/exec/counters.h"

#include "emulator/isa/program.h"

namespace attnscope::emulator {
namespace {

int64_t count(uint64_t value) { return static_cast<int64_t>(value); }

// What the hardware does on the path of shared memory although it accesses none: MOVM, and S2R of what differs from
// lane to lane (docs/emulator.md).
bool takes_a_wavefront(const compile::SassInstruction& one) {
  if (one.opcode == "MOVM") return true;
  if (one.opcode != "S2R" || one.operands.empty()) return false;
  const std::string& from = one.operands.back().raw;
  return from.starts_with("SR_TID.") || from == "SR_LANEID";
}

}  // namespace

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  requests += other.requests;
  empty_requests += other.empty_requests;
  wavefronts += other.wavefronts;
  ideal += other.ideal;
  sectors += other.sectors;
  lines += other.lines;
  passes += other.passes;
  local_sectors += other.local_sectors;
  turns += other.turns;
  return *this;
}

InstructionCounters& InstructionCounters::operator+=(const InstructionCounters& other) {
  AccessCounts::operator+=(other);
  issued += other.issued;
  threads += other.threads;
  threads_on += other.threads_on;
  return *this;
}

RunCounters sum_up(const Program& program, const std::vector<InstructionCounters>& instructions) {
  RunCounters sum;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const InstructionCounters& one = instructions[i];
    const InstructionClass kind = program.classes[i];
    sum.warp_instructions += one.issued;
    sum.by_class[static_cast<size_t>(kind)] += one.issued;
    sum.threads += one.threads;
    sum.threads_on += one.threads_on;
    if (one.issued > 0 && takes_a_wavefront(program.sass->instructions[i])) sum.shared_other_wavefronts += one.issued;
    switch (kind) {
      case InstructionClass::shared_load:
      case InstructionClass::shared_store: {
        const bool load = kind == InstructionClass::shared_load;
        (load ? sum.shared_load_wavefronts : sum.shared_store_wavefronts) += one.wavefronts;
        (load ? sum.shared_load_instructions : sum.shared_store_instructions) += one.issued;
        sum.shared_other_wavefronts += one.empty_requests;
        sum.shared_ideal_wavefronts += one.ideal;
        sum.shared_bank_conflicts += one.wavefronts - one.ideal;
        break;
      }
      case InstructionClass::shuffle:
        sum.shared_other_wavefronts += one.requests;
        break;
      // A generic access may go to any space.
      case InstructionClass::global_load:
        sum.shared_load_wavefronts += one.wavefronts;
        sum.shared_ideal_wavefronts += one.ideal;
        sum.shared_bank_conflicts += one.wavefronts - one.ideal;
        sum.local_load_sectors += one.local_sectors;
        sum.shared_other_wavefronts += one.empty_requests;
        sum.global_load_requests += one.requests;
        sum.global_load_sectors += one.sectors;
        break;
      case InstructionClass::global_store:
        sum.shared_store_wavefronts += one.wavefronts;
        sum.shared_ideal_wavefronts += one.ideal;
        sum.shared_bank_conflicts += one.wavefronts - one.ideal;
        sum.local_store_sectors += one.local_sectors;
        sum.shared_other_wavefronts += one.empty_requests;
        sum.global_store_requests += one.requests;
        sum.global_store_sectors += one.sectors;
        break;
      // Global ones have none.
      case InstructionClass::atomic:
        sum.shared_atomic_wavefronts += one.wavefronts;
        sum.shared_ideal_wavefronts += one.ideal;
        sum.shared_bank_conflicts += one.wavefronts - one.ideal;
        break;
      case InstructionClass::local_load:
        sum.local_load_sectors += one.sectors;
        break;
      case InstructionClass::local_store:
        sum.local_store_sectors += one.sectors;
        break;
      case InstructionClass::barrier:
        sum.shared_other_wavefronts += one.requests;
        sum.barriers += one.issued;
        break;
      default:
        break;
    }
  }
  return sum;
}

Counters counters_of(const RunCounters& from) {
  Counters to;
  to.kind = FigureKind::counted;
  to.sampled_fraction = from.sampled_fraction();
  to.instructions[kAllInstructions] = count(from.warp_instructions);
  for (size_t i = 0; i < from.by_class.size(); ++i)
    if (from.by_class[i] > 0)
      to.instructions[std::string(to_string(static_cast<InstructionClass>(i)))] = count(from.by_class[i]);
  to.active_lanes_mean = from.active_lanes_mean();
  to.threads = count(from.threads);
  to.shared_wavefronts = count(from.shared_wavefronts());
  to.shared_wavefronts_ideal = count(from.shared_ideal_wavefronts + from.shared_other_wavefronts);
  to.shared_bank_conflicts = count(from.shared_bank_conflicts);
  to.global_load_sectors = count(from.global_load_sectors);
  to.global_store_sectors = count(from.global_store_sectors);
  to.local_sectors = count(from.local_load_sectors + from.local_store_sectors);
  to.barriers = count(from.barriers);
  to.emulated_ctas = count(from.ctas);
  to.total_ctas = count(from.total_ctas);
  return to;
}

}  // namespace attnscope::emulator
