// What keeps an instruction from issuing: its scheduler, the pipe that it takes and the banks of its registers.
#include <algorithm>

#include "model/simulation.h"

namespace attnscope::model {

const std::array<uint8_t, kRegisterBanks>& Simulation::reads_of(size_t index) const {
  const SimulatedWarp& warp = warps_[index];
  const ScheduledInstruction& instruction = schedule_.code[warp.next];
  const bool behind_own = issued_last_[static_cast<size_t>(warp.scheduler)] == index && warp.previous + 1 == warp.next;
  return behind_own ? instruction.bank_reads : instruction.bank_reads_alone;
}

HeldUnit& Simulation::pipe_of(size_t scheduler, Unit unit) {
  auto& units = units_[scheduler];
  if (!machine_.two_fma_pipes || (unit != Unit::fp32 && unit != Unit::imad && unit != Unit::half_to_float))
    return units[static_cast<size_t>(unit)];
  HeldUnit& heavy = units[static_cast<size_t>(Unit::imad)];
  HeldUnit& lite = units[static_cast<size_t>(Unit::fp32)];
  return unit != Unit::fp32 || heavy.until < lite.until ? heavy : lite;
}

Holder Simulation::holder_of(size_t scheduler, Unit unit, const std::array<uint8_t, kRegisterBanks>& reads) {
  const HeldUnit& held = pipe_of(scheduler, unit);
  const HeldUnit& issue = issue_free_[scheduler];
  Holder holder{issue.until, issue.by, false};
  if (held.until >= holder.until) holder = {held.until, held.by, false};
  for (size_t bank = 0; bank < kRegisterBanks; ++bank) {
    if (reads[bank] == 0) continue;
    // An instruction with more reads than its window has clocks holds up the
    // next one, not itself.
    const HeldUnit& port = banks_[scheduler][bank];
    const double clocks = reads[bank] * machine_.bank_port;
    const double until = bank_busy(port, unit) + clocks - std::max(clocks, machine_.read_window);
    if (until > holder.until) holder = {until, port.by, true};
  }
  return holder;
}

double Simulation::bank_busy(const HeldUnit& bank, Unit unit) const {
  const bool behind_product = unit != Unit::tensor && bank.until > 0 && schedule_.code[bank.by].unit == Unit::tensor;
  return bank.until + (behind_product ? machine_.mma_banks : 0);
}

void Simulation::hold(size_t scheduler, Unit unit, uint32_t by, double now,
                      const std::array<uint8_t, kRegisterBanks>& reads) {
  const Prepared& prepared = prepared_[by];
  issue_free_[scheduler] = {now + prepared.issue, by};
  turns_.scheduler_free(scheduler, now + prepared.issue);
  pipe_of(scheduler, unit) = {now + prepared.clocks, by};
  for (size_t bank = 0; bank < kRegisterBanks; ++bank)
    if (HeldUnit& port = banks_[scheduler][bank]; reads[bank] > 0)
      port = {std::max(bank_busy(port, unit), now) + reads[bank] * machine_.bank_port, by};
}

}  // namespace attnscope::model
