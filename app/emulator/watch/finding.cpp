// Turns the faults that a watch saw into text.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "emulator/watch/watch.h"

namespace attnscope::emulator {

RuleId rule_of(WatchKind kind) {
  switch (kind) {
    case WatchKind::shared_write_write:
    case WatchKind::shared_write_read:
    case WatchKind::shared_read_write:
      return RuleId::race_shared;
    case WatchKind::warp_write_write:
    case WatchKind::warp_write_read:
    case WatchKind::warp_read_write:
      return RuleId::race_warp;
    case WatchKind::shared_copy_not_awaited:
      return RuleId::race_copy;
    case WatchKind::shared_part_never_written:
    case WatchKind::shared_never_written:
      return RuleId::never_written_shared;
    case WatchKind::local_never_written:
      return RuleId::never_written_local;
    case WatchKind::barrier_uneven:
      return RuleId::barrier_uneven;
    case WatchKind::shuffle_absent_lane:
      return RuleId::shuffle_absent;
    case WatchKind::global_write_write:
    case WatchKind::global_write_read:
    case WatchKind::global_read_write:
      return RuleId::race_global;
    case WatchKind::grid_write_write:
    case WatchKind::grid_write_read:
    case WatchKind::grid_read_write:
      return RuleId::race_grid;
    case WatchKind::global_never_written:
      return RuleId::never_written_global;
  }
  return RuleId::unknown;
}

namespace {

constexpr uint32_t kMostToUse = 200;  // instructions from a load to where its value is used

// The first instruction behind a load, in the code's order, that reads a register that it loads; the load if none does.
uint32_t first_use(const compile::SassProgram& sass, uint32_t op) {
  const auto& code = sass.instructions;
  const auto& load = code[op];
  if (load.operands.empty() || load.operands[0].kind != compile::OperandKind::reg) return op;
  const auto has = [&](const char* width) { return std::ranges::count(load.modifiers, width) > 0; };
  const int first = load.operands[0].reg, last = first + (has("128") ? 3 : has("64") ? 1 : 0);
  const auto loaded = [&](const compile::SassOperand& one) {
    const bool is_lanes = one.kind == compile::OperandKind::reg || one.kind == compile::OperandKind::address;
    return is_lanes && !one.reg_is_uniform && one.reg >= first && one.reg <= last;
  };
  const uint32_t end = std::min(static_cast<uint32_t>(code.size()), op + kMostToUse);
  for (uint32_t i = op + 1; i < end; ++i) {
    const auto& operands = code[i].operands;
    const bool writes = !operands.empty() && operands[0].kind == compile::OperandKind::reg;
    if (std::any_of(operands.begin() + (writes ? 1 : 0), operands.end(), loaded)) return i;
    if (writes && loaded(operands[0])) return op;
  }
  return op;
}

// The compiler may move a load of shared memory out of a loop and give it a line from before the barrier that it
// stands behind. What uses the value then says where it is read: that instruction, otherwise the load itself.
uint32_t reading(const Program& program, uint32_t op) {
  const auto& code = program.sass->instructions;
  if (code[op].opcode != "LDS" || !code[op].inlined_at.empty() || code[op].line.line == 0) return op;
  uint32_t barrier = op;
  while (barrier > 0 && code[barrier].opcode != "BAR") --barrier;
  const uint32_t use = first_use(*program.sass, op);
  const auto in_file = [&](uint32_t at) {
    return code[at].inlined_at.empty() && code[at].line.file == code[op].line.file;
  };
  const bool moved = code[barrier].opcode == "BAR" && in_file(barrier) && in_file(use) &&
                     code[op].line.line < code[barrier].line.line && code[barrier].line.line <= code[use].line.line;
  return moved ? use : op;
}

// Unrolled code has many instructions for one source line, so findings name pairs of lines.
std::vector<WatchSeen> by_line(const Program& program, const WatchLog::Seen& seen) {
  const auto place = [&](uint32_t op) {
    const auto& line = program.sass->instructions[op].line;
    return line.line != 0 ? source_of(program, op) : std::to_string(op);
  };
  std::map<std::tuple<WatchKind, std::string, std::string>, WatchSeen> merged;
  for (const auto& [key, one] : seen) {
    std::string first = place(one.op), second = place(one.other);
    if (second < first) std::swap(first, second);
    WatchSeen& all = merged[{key.kind, first, second}];
    const uint64_t count = all.count + one.count;
    if (all.count == 0 || one.cta < all.cta) all = one;
    all.count = count;
  }
  std::vector<WatchSeen> list;
  for (const auto& [key, one] : merged) list.push_back(one);
  // A barrier that warps pass unevenly causes races after it, so it is reported first.
  std::stable_partition(list.begin(), list.end(),
                        [](const WatchSeen& one) { return one.kind == WatchKind::barrier_uneven; });
  return list;
}

}  // namespace

std::vector<WatchFinding> findings_of(const Program& program, const WatchLog::Seen& seen,
                                      const std::vector<SharedPlace>& names, const GlobalShadow& shadow) {
  std::vector<WatchFinding> findings;
  for (const WatchSeen& one : by_line(program, seen)) {
    WatchFinding finding;
    finding.kind = one.kind;
    finding.op = one.op;
    finding.other = one.other;
    // Two calls of one inlined function share the function's line; only the calls differ.
    const size_t calls_up = one.kind == WatchKind::barrier_uneven ? equal_calls(program, one.op, one.other) : 0;
    finding.line = source_of(program, reading(program, one.op), calls_up);
    finding.other_line = source_of(program, reading(program, one.other), calls_up);
    finding.count = one.count;
    finding.cta = one.cta;
    finding.other_cta = one.other_cta;
    finding.address = one.address;
    finding.thread = one.thread;
    finding.other_thread = one.other_thread;
    const SharedPlace* const part =
        one.kind <= WatchKind::shared_never_written ? place_of(names, static_cast<int64_t>(one.address)) : nullptr;
    if (one.area != 0) {
      finding.buffer = shadow.areas()[one.area - 1].name;
      finding.buffer_byte = one.address;
    } else if (part != nullptr) {
      finding.buffer = part->name;
      finding.buffer_byte = one.address - static_cast<uint64_t>(part->begin);
    }
    const std::string where = finding.buffer.empty()
                                  ? fmt::format("byte {} of shared memory", one.address)
                                  : fmt::format("byte {} of {}", finding.buffer_byte, finding.buffer);
    const auto& code = program.sass->instructions;
    const auto place = [&](uint32_t op) {
      if (const uint32_t use = reading(program, op); use != op)
        return fmt::format("{} for {}, which the compiler counts to line {},", code[op].opcode, source_of(program, use),
                           code[op].line.line);
      return code[op].line.line != 0 ? fmt::format("{} at {}", code[op].opcode, source_of(program, op))
                                     : fmt::format("{} at byte {:#x} of the code", code[op].opcode, op * 16);
    };
    const std::string here = place(one.op), there = place(one.other);
    const std::string often =
        fmt::format("; first in CTA {}, {} time{} in all", one.cta, one.count, one.count == 1 ? "" : "s");
    const auto sides = [&](const char* did, const char* does, const char* lacks) {
      return fmt::format("{} (thread {}, warp {}) {} {}, then {} (thread {}, warp {}) {} it, {}{}.", there,
                         one.other_thread, one.other_thread / 32, did, where, here, one.thread, one.thread / 32, does,
                         lacks, often);
    };
    const auto between_ctas = [&](const char* did, const char* does) {
      return fmt::format(
          "Race between CTAs: {} (CTA {}, thread {}) {} {} and {} (CTA {}, thread {}) {} it, and nothing "
          "orders the two CTAs, {} time{} in all.",
          there, one.other_cta, one.other_thread, did, where, here, one.cta, one.thread, does, one.count,
          one.count == 1 ? "" : "s");
    };
    constexpr const char* unordered = "with nothing that orders the two warps between them";
    constexpr const char* unsynced = "with no __syncwarp between: nothing guarantees that the lanes stay together";
    switch (one.kind) {
      case WatchKind::shared_write_write:
      case WatchKind::global_write_write:
        finding.message = "Race: " + sides("writes", "writes", unordered);
        break;
      case WatchKind::shared_write_read:
      case WatchKind::global_write_read:
        finding.message = "Race: " + sides("writes", "reads", unordered);
        break;
      case WatchKind::shared_read_write:
      case WatchKind::global_read_write:
        finding.message = "Race: " + sides("reads", "writes", unordered);
        break;
      case WatchKind::warp_write_write:
        finding.message = "Race within a warp: " + sides("writes", "writes", unsynced);
        break;
      case WatchKind::warp_write_read:
        finding.message = "Race within a warp: " + sides("writes", "reads", unsynced);
        break;
      case WatchKind::warp_read_write:
        finding.message = "Race within a warp: " + sides("reads", "writes", unsynced);
        break;
      case WatchKind::shared_copy_not_awaited:
        finding.message =
            "Race: " + sides("copies to", "touches", "before the copy's group is waited for and a barrier passed");
        break;
      case WatchKind::grid_write_write:
        finding.message = between_ctas("writes", "writes");
        break;
      case WatchKind::grid_write_read:
        finding.message = between_ctas("writes", "reads");
        break;
      case WatchKind::grid_read_write:
        finding.message = between_ctas("reads", "writes");
        break;
      case WatchKind::shared_part_never_written:
      case WatchKind::shared_never_written:
      case WatchKind::global_never_written:
        finding.message =
            fmt::format("{} (thread {}) reads {}, which nothing has written{}.", here, one.thread, where, often);
        break;
      case WatchKind::local_never_written:
        finding.message = fmt::format("{} (thread {}) reads byte {} of its local memory, which it has not written{}.",
                                      here, one.thread, one.address, often);
        break;
      case WatchKind::barrier_uneven:
        finding.message = fmt::format("Uneven barrier {}: warp {} passes {} while warp {} passes {}{}.", one.address,
                                      one.thread / 32, here, one.other_thread / 32, there, often);
        break;
      case WatchKind::shuffle_absent_lane:
        finding.message = fmt::format("{}: thread {} takes a value from thread {}, which does not take part{}.", here,
                                      one.thread, one.other_thread, often);
        break;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace attnscope::emulator
