// Describes what happened to a CTA that could not continue.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "emulator/exec/cta.h"
#include "platform/memory.h"

namespace attnscope::emulator {

// The lines that the observed warp visited: "02_tiled.cu:120-174".
std::string CtaRunner::observed_lines() const {
  const Program& program = *launch_->program;
  std::set<std::pair<std::string, uint32_t>> lines;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    if (block_counts_[b].executions == before_loop_[b].executions) continue;
    for (uint32_t i = 0; i < program.blocks[b].count; ++i) {
      const auto& line = program.sass->instructions[program.blocks[b].first + i].line;
      if (line.line != 0 && line.file < program.sass->files.size()) {
        lines.emplace(program.sass->files[line.file], line.line);
      }
    }
  }
  if (lines.empty()) return "an unknown source line";
  const std::string& file = lines.begin()->first;
  const uint32_t first = lines.begin()->second;
  uint32_t last = first;
  for (const auto& [name, line] : lines) {
    if (name == file) last = line;
  }
  return first == last ? fmt::format("{}:{}", file, first) : fmt::format("{}:{}-{}", file, first, last);
}

// Whether the observed warp loads global memory by atomics or volatile loads, as a CTA does that waits for another one,
// in a launch in which that one need not run.
bool CtaRunner::spins_on_global() const {
  const Program& program = *launch_->program;
  if (launch_->cooperative || uint64_t{launch_->grid[0]} * launch_->grid[1] * launch_->grid[2] == 1) return false;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    if (block_counts_[b].executions == before_loop_[b].executions) continue;
    const auto ops = std::span(launch_->ops).subspan(program.blocks[b].first, program.blocks[b].count);
    if (std::ranges::any_of(ops, [](const Op& op) {
          return (op.space == Space::global || op.space == Space::generic) && reads(op.access) &&
                 (op.access == AccessKind::both || (op.flags & op_strong) != 0);
        }))
      return true;
  }
  return false;
}

std::string CtaRunner::waiting_lines() const {
  const Program& program = *launch_->program;
  std::map<std::string, std::vector<uint32_t>> warps_at;
  for (uint32_t w = 0; w < launch_->warps; ++w) {
    const Warp& warp = this->warp(w);
    for (uint32_t i = 0; i < warp.fragment_count; ++i) {
      const Fragment& fragment = warp.fragments[i];
      if (fragment.wait == Wait::free) continue;
      // A fragment that is ready polls memory.
      const uint32_t at = fragment.wait == Wait::ready ? warp.polled_op : fragment.pc;
      const std::string& opcode = program.sass->instructions[at].opcode;
      auto& warps = warps_at[fmt::format("{} at {}", opcode, source_of(program, at))];
      if (warps.empty() || warps.back() != w) warps.push_back(w);
    }
  }
  std::string text;
  for (const auto& [where, warps] : warps_at) {
    text += fmt::format("{}warp{} {} wait{} for {}", text.empty() ? "" : "; ", warps.size() == 1 ? "" : "s",
                        fmt::join(warps, ", "), warps.size() == 1 ? "s" : "", where);
  }
  return text;
}

Failure CtaRunner::describe(CtaEnd end, uint32_t linear, const BoundLaunch& launch,
                            const GlobalMemory::Spot& spot) const {
  const Program& program = *launch.program;
  const std::string kernel = program.sass->kernel.name;
  const std::string cta =
      fmt::format("CTA ({}, {}, {})", linear % launch.grid[0], linear / launch.grid[0] % launch.grid[1],
                  linear / launch.grid[0] / launch.grid[1]);
  if (end == CtaEnd::no_memory) return platform::out_of_memory(kernel + ", in " + cta);
  if (end == CtaEnd::deadlock) {
    return {
        Stage::deadline, fmt::format("{} deadlocks in {}: {}.", kernel, cta, waiting_lines()),
        "Every thread of a CTA that has not exited must reach the same barrier; an mbarrier's phase ends when as many "
        "arrive as it was initialised with.",
        FailureKind::deadlock};
  }
  if (end == CtaEnd::grid_deadlock) return grid_deadlock(cta);
  const auto spins = [&] {
    return spins_on_global()
               ? "loads global memory again and again there: if it waits for another CTA, \"cooperative\": "
                 "true in the manifest's launch lets all CTAs run"
               : "";
  };
  if (end == CtaEnd::cancelled) {
    const std::string waits = spins();
    return {Stage::cancelled, "The emulated run was cancelled.",
            fmt::format("It was at {}, warp {} of {}{}", observed_lines(), loop_warp_, cta,
                        waits.empty() ? "" : ", and " + waits),
            waits.empty() ? FailureKind::other : FailureKind::awaits_cta};
  }
  if (end == CtaEnd::endless) {
    const std::string waits = spins();
    return {Stage::deadline,
            fmt::format("{} does not end: warp {} of {} issued over {} instructions and loops at {}.", kernel,
                        loop_warp_, cta, launch.options->step_budget, observed_lines()),
            waits.empty() ? "Check the loop's condition; a larger problem may need a larger step budget."
                          : "It " + waits + ".",
            waits.empty() ? FailureKind::other : FailureKind::awaits_cta};
  }
  const Fault& fault = machine_.fault;
  const compile::SassInstruction& instruction = program.sass->instructions[fault.op];
  const uint32_t warp_id = fault_warp_;
  const uint32_t thread = warp_id * 32 + static_cast<uint32_t>(fault.lane);
  const std::string who = fmt::format("{}, thread {} (warp {}, lane {})", cta, thread, warp_id, fault.lane);
  const std::string where = fmt::format("{} at {}", instruction.opcode, source_of(program, fault.op));
  const auto failure = [&](const std::string& what, std::string hint) {
    return Failure{Stage::launch, fmt::format("{}: {} {} ({}).", kernel, where, what, who), std::move(hint)};
  };
  const auto global_failure = [&](const std::string& what, std::string hint) {
    Failure global = failure(what + ": " + spot.text, std::move(hint));
    global.overrun = spot.overrun;
    return global;
  };
  switch (fault.kind) {
    case FaultKind::global_outside:
      return global_failure(
          fmt::format("accesses {} bytes at {:#x}, outside every buffer", fault.bytes, fault.address),
          "Check the index against the sizes the kernel was given, and a custom kernel's manifest: the buffer's shape, "
          "the grid.");
    case FaultKind::global_misaligned:
      return global_failure(fmt::format("accesses {} bytes at {:#x}, which is not a multiple of {}", fault.bytes,
                                        fault.address, fault.bytes),
                            "A vector access needs an address that is a multiple of its width.");
    case FaultKind::global_read_only:
      return global_failure(fmt::format("stores {} bytes at {:#x}, in a read-only buffer", fault.bytes, fault.address),
                            "Kernels must not write their inputs.");
    case FaultKind::shared_outside:
      return failure(fmt::format("accesses {} bytes at {} of shared memory; the CTA has {}", fault.bytes,
                                 static_cast<int64_t>(fault.address) - launch.shared_low, launch.shared_bytes),
                     "Check the index, and the dynamic shared memory that the launch asks for.");
    case FaultKind::shared_misaligned:
      return failure(fmt::format("accesses {} bytes at {} of shared memory, which is not a multiple of {}", fault.bytes,
                                 fault.address - launch.shared_low, fault.bytes),
                     "A vector access needs an address that is a multiple of its width.");
    case FaultKind::local_outside:
    case FaultKind::local_misaligned:
      return failure(fmt::format("accesses {} bytes at {} of local memory; a thread has {}", fault.bytes, fault.address,
                                 launch.local_bytes),
                     "An index into a local array is out of range, or not aligned.");
    case FaultKind::constant_outside:
      return failure(fmt::format("reads {} bytes at {:#x} of a constant bank, outside it", fault.bytes, fault.address),
                     "An index into a __constant__ array or a parameter is out of range.");
    case FaultKind::assertion:
      return failure(fmt::format("fails an assertion: {}", log_.calls.empty() ? std::string() : log_.calls.back().text),
                     "The kernel's own assert() did not hold.");
    case FaultKind::trap:
      return failure(
          "executes a trap",
          "The kernel's own __trap(), or a check of a library: cooperative_groups' grid.sync() traps where the "
          "launch is not cooperative (\"cooperative\": true in the manifest's launch).");
    case FaultKind::bad_target:
      return failure(fmt::format("jumps to byte {:#x}, where no straight run of instructions starts", fault.address),
                     "The emulator misread the machine code; report the kernel.");
    case FaultKind::none:
      break;
  }
  return {Stage::internal, "The emulator stopped without a fault.", "Report the kernel."};
}

// The running CTA is the first that waits for others.
Failure CtaRunner::grid_deadlock(const std::string& cta) const {
  const std::string& kernel = launch_->program->sass->kernel.name;
  const size_t waiting = residents_.size() - ended_;
  const std::string others = ended_ == 0   ? "all of its CTAs wait for each other"
                             : ended_ == 1 ? fmt::format("a CTA has ended, and {} wait for it", waiting)
                                           : fmt::format("{} CTAs have ended, and {} wait for them", ended_, waiting);
  return {
      Stage::deadline, fmt::format("{} deadlocks: {}. In {}, {}.", kernel, others, cta, waiting_lines()),
      "Every CTA of a cooperative launch must call grid.sync() as often as the others, also one without work: let it "
      "skip the work, not the barrier.",
      FailureKind::deadlock};
}

}  // namespace attnscope::emulator
