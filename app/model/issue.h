#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "model/machine.h"
#include "model/simulated_warp.h"

namespace attnscope::model {

// A scheduler's unit, or a queue of the SM: until when it is busy, and the last instruction in it.
struct HeldUnit {
  double until = 0;
  uint32_t by = 0;
};

// One number, or one condition, for each of a scheduler's register banks. A processor handles both banks at once.
using ByBank = double __attribute__((vector_size(sizeof(double) * kRegisterBanks)));
using BankBits = int64_t __attribute__((vector_size(sizeof(int64_t) * kRegisterBanks)));

// What an instruction reads from a scheduler's register banks.
struct BankReads {
  ByBank clocks{};  // needed from each bank
  // An instruction whose reads exceed its window delays the next one, not itself. For a bank that it does not read,
  // the window is infinite.
  ByBank window{};

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
  double clocks;                  // of a scheduler's unit
  double issue = 1;               // clocks in which the scheduler issues nothing else
  double stall;                   // clocks before its warp's next instruction
  double passes;                  // of a whole warp
  float conflicts;                // the share of its passes that are bank conflicts
  std::array<uint32_t, 2> reads;  // of PreparedCode: after another warp's instruction, and after its own warp's
  Unit pipe;                      // the one that it uses
  bool any_pipe;                  // uses the FP32 pipe that is free first
  bool product;                   // uses a Tensor Core
  bool waits;                     // waits for data, or for room in the queue of wavefronts
  bool effects;                   // something waits for it, or it uses what the SM's warps share
  bool barrier;

  Prepared(const Machine& machine, const ScheduledInstruction& instruction, std::array<uint32_t, 2> of_banks)
      : clocks(machine.unit_clocks[static_cast<size_t>(instruction.unit)]),
        stall(std::max<double>(1, instruction.stall)),
        passes(passes_of(instruction, 32)),
        conflicts(instruction.passes > 0 ? instruction.conflicts / instruction.passes : 0),
        reads(of_banks),
        pipe(instruction.unit),
        product(instruction.unit == Unit::tensor),
        barrier(instruction.unit == Unit::barrier) {
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

  // A warp with more active lanes than the mean has more bank conflicts.
  static double passes_of(const ScheduledInstruction& instruction, uint32_t lanes) {
    return std::max(1.0, double(instruction.passes) * lanes / double(instruction.lanes));
  }
};

// A kernel's code as every issue reads it. Few instructions differ in what they read from the banks, so each kind of
// reads is stored once: with less to load, more of it stays in the processor's nearest cache.
class PreparedCode {
 public:
  PreparedCode(const Machine& machine, const std::vector<ScheduledInstruction>& code) {
    std::map<std::array<uint8_t, kRegisterBanks>, uint32_t> known;
    const auto index_of = [&](const std::array<uint8_t, kRegisterBanks>& reads) {
      const auto [at, added] = known.emplace(reads, static_cast<uint32_t>(reads_.size()));
      if (added) reads_.emplace_back(machine, reads);
      return at->second;
    };
    code_.reserve(code.size());
    for (const ScheduledInstruction& one : code)
      code_.emplace_back(machine, one, std::array{index_of(one.bank_reads_alone), index_of(one.bank_reads)});
  }
  const Prepared& operator[](uint32_t instruction) const { return code_[instruction]; }
  const BankReads& reads(const Prepared& instruction, bool behind_own) const {
    return reads_[instruction.reads[static_cast<size_t>(behind_own)]];
  }

 private:
  std::vector<Prepared> code_;
  std::vector<BankReads> reads_;
};

// What keeps the instructions of a scheduler from issuing: its issue slot, the pipes and its register banks. Used for
// every simulated instruction, so everything is inline, without jumps that depend on data.
class IssuePorts {
 public:
  // Until when they keep the instruction from issuing.
  double held_until(const Prepared& instruction, const BankReads& reads) const {
    const ByBank banks = busy_[others(instruction)] + reads.clocks - reads.window;
    return std::max(std::max(slot_.until, pipes_[pipe_of(instruction)].until), std::max(banks[0], banks[1]));
  }

  // Which of them does so to the end.
  Holder holder(const Prepared& instruction, const BankReads& reads) const {
    const HeldUnit& held = pipes_[pipe_of(instruction)];
    Holder last{slot_.until, slot_.by, false};
    if (held.until >= last.until) last = {held.until, held.by, false};
    const ByBank banks = busy_[others(instruction)] + reads.clocks - reads.window;
    for (size_t bank = 0; bank < kRegisterBanks; ++bank)
      if (banks[bank] > last.until) last = {banks[bank], static_cast<uint32_t>(read_by_[bank]), true};
    return last;
  }

  // The instruction `by` issues now and holds all three. Returns when the next one may issue. For `product_banks`
  // clocks after a Tensor Core's reads, its banks serve only other products.
  double hold(const Prepared& instruction, const BankReads& reads, uint32_t by, double now, double product_banks) {
    slot_ = {now + instruction.issue, by};
    pipes_[pipe_of(instruction)] = {now + instruction.clocks, by};
    const ByBank busy = busy_[others(instruction)], at = now + ByBank{};
    const ByBank until = (busy < at ? at : busy) + reads.clocks;
    const BankBits read = reads.clocks > 0.0;
    busy_[0] = read ? until : busy_[0];
    busy_[1] = read ? until + (instruction.product ? product_banks : 0) : busy_[1];
    read_by_ = read ? BankBits{} + by : read_by_;
    return slot_.until;
  }

  const std::array<HeldUnit, static_cast<size_t>(Unit::count)>& pipes() const { return pipes_; }

 private:
  static size_t others(const Prepared& instruction) { return static_cast<size_t>(!instruction.product); }
  size_t pipe_of(const Prepared& instruction) const {
    constexpr auto heavy = static_cast<size_t>(Unit::imad), lite = static_cast<size_t>(Unit::fp32);
    const auto own = static_cast<size_t>(instruction.pipe);
    const bool takes_heavy = instruction.any_pipe & (pipes_[heavy].until < pipes_[lite].until);
    return own ^ ((own ^ heavy) & -size_t{takes_heavy});
  }

  HeldUnit slot_;
  std::array<HeldUnit, static_cast<size_t>(Unit::count)> pipes_{};
  std::array<ByBank, 2> busy_{};  // until when each bank is busy for products, and for other instructions
  BankBits read_by_{};            // the last instruction that reads from it
};

}  // namespace attnscope::model
