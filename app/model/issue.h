#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "model/machine.h"
#include "model/simulated_warp.h"

namespace attnscope::model {

// A scheduler's unit, or a queue of the SM: until when it is busy, and the last instruction in it.
struct HeldUnit {
  double until = 0;
  uint32_t by = 0;
};

// What an instruction reads from a scheduler's register banks.
struct BankReads {
  std::array<double, kRegisterBanks> clocks{};  // needed from each bank
  // An instruction whose reads exceed its window delays the next one, not itself. For a bank that it does not read, the
  // window is infinite.
  std::array<double, kRegisterBanks> window{};

  BankReads(const Machine& machine, const std::array<uint8_t, kRegisterBanks>& reads) {
    for (size_t bank = 0; bank < kRegisterBanks; ++bank) {
      clocks[bank] = reads[bank] * machine.bank_port;
      window[bank] =
          reads[bank] == 0 ? std::numeric_limits<double>::infinity() : std::max(clocks[bank], machine.read_window);
    }
  }
};

// What an instruction costs and does at every issue, computed once.
struct Prepared {
  double clocks;                   // of a scheduler's unit
  double issue = 1;                // clocks in which the scheduler issues nothing else
  Unit pipe;                       // the one that it uses
  bool any_pipe;                   // uses the FP32 pipe that is free first
  bool product;                    // uses a Tensor Core
  bool waits;                      // waits for data, or for room in the queue of wavefronts
  bool effects;                    // something waits for it, or it uses what the SM's warps share
  std::array<BankReads, 2> reads;  // after another warp's instruction, and directly after its own warp's

  Prepared(const Machine& machine, const ScheduledInstruction& instruction)
      : clocks(machine.unit_clocks[static_cast<size_t>(instruction.unit)]),
        pipe(instruction.unit),
        product(instruction.unit == Unit::tensor),
        reads{BankReads(machine, instruction.bank_reads_alone), BankReads(machine, instruction.bank_reads)} {
    any_pipe = machine.two_fma_pipes && instruction.unit == Unit::fp32;
    if (any_pipe) clocks *= 2;
    if (machine.two_fma_pipes && instruction.unit == Unit::half_to_float) pipe = Unit::imad;
    if (product) {
      if (instruction.fp64) clocks = machine.fp64_product;
      clocks *= double(instruction.products);
      issue = std::max(1.0, machine.mma_issue * std::min(1.0, double(instruction.products)));
    }
    if (instruction.wide) issue = machine.wide_load_issue;
    const bool memory = is_shared(instruction.unit) || is_global(instruction.unit);
    waits = instruction.wait_mask != 0 || instruction.copies_pending >= 0 || memory;
    effects = instruction.write_scoreboard < kScoreboards || instruction.read_scoreboard < kScoreboards ||
              instruction.closes_copies || memory || instruction.unit == Unit::shuffle;
  }
};

// What keeps the instructions of a scheduler from issuing: its issue slot, the pipes and its register banks. Used for
// every simulated instruction, so everything is inline, without jumps that depend on data.
class IssuePorts {
 public:
  // What keeps the instruction from issuing, and until when.
  Holder holder(const Prepared& instruction, const BankReads& reads) const {
    const HeldUnit& held = pipes_[pipe_of(instruction)];
    double last = slot_.until;
    uint32_t by = slot_.by, banks = 0;
    const auto take = [&](bool later, double until, uint32_t held_by, uint32_t of_bank) {
      last = later ? until : last;
      by = later ? held_by : by;
      banks = later ? of_bank : banks;
    };
    take(held.until >= last, held.until, held.by, 0);
    for (size_t bank = 0; bank < kRegisterBanks; ++bank) {
      const double until = busy(banks_[bank], instruction) + reads.clocks[bank] - reads.window[bank];
      take(until > last, until, banks_[bank].by, 1);
    }
    return {last, by, banks != 0};
  }

  // The instruction `by` issues now and holds all three. Returns when the next one may issue. For `product_banks`
  // clocks after a Tensor Core's reads, its banks serve only other products.
  double hold(const Prepared& instruction, const BankReads& reads, uint32_t by, double now, double product_banks) {
    slot_ = {now + instruction.issue, by};
    pipes_[pipe_of(instruction)] = {now + instruction.clocks, by};
    for (size_t bank = 0; bank < kRegisterBanks; ++bank) {
      Bank& held = banks_[bank];
      const bool read = reads.clocks[bank] > 0;
      const double until = std::max(busy(held, instruction), now) + reads.clocks[bank];
      held.until_others = read ? until + (instruction.product ? product_banks : 0) : held.until_others;
      held.until = read ? until : held.until;
      held.by = read ? by : held.by;
    }
    return slot_.until;
  }

  const std::array<HeldUnit, static_cast<size_t>(Unit::count)>& pipes() const { return pipes_; }

 private:
  struct Bank {
    double until = 0;         // busy for products
    double until_others = 0;  // busy for other instructions
    uint32_t by = 0;
  };

  static double busy(const Bank& bank, const Prepared& instruction) {
    return instruction.product ? bank.until : bank.until_others;
  }
  size_t pipe_of(const Prepared& instruction) const {
    constexpr auto heavy = static_cast<size_t>(Unit::imad), lite = static_cast<size_t>(Unit::fp32);
    const auto own = static_cast<size_t>(instruction.pipe);
    const bool takes_heavy = instruction.any_pipe & (pipes_[heavy].until < pipes_[lite].until);
    return takes_heavy ? heavy : own;
  }

  HeldUnit slot_;
  std::array<HeldUnit, static_cast<size_t>(Unit::count)> pipes_{};
  std::array<Bank, kRegisterBanks> banks_{};
};

}  // namespace attnscope::model
