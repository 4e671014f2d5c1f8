#include "emulator/watch.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <tuple>

namespace attnscope::emulator {

namespace {

bool is_shuffle(Family family) { return family >= Family::shfl_idx && family <= Family::shfl_bfly; }
const std::string& opcode_of(const Program& program, const Op& op) {
  return program.sass->instructions[op.index].opcode;
}

}  // namespace

bool is_watched(const Program& program, const Op& op) {
  const std::string& opcode = opcode_of(program, op);
  const auto space = static_cast<Space>(op.space);
  if (op.access != 0) return space != Space::global || opcode == "LDGSTS";
  return is_shuffle(op.family) || opcode == "LDGDEPBAR" || opcode == "DEPBAR";
}

uint32_t watch_unit(const Program& program) {
  uint32_t unit = 4;
  for (const Op& op : program.ops) {
    const auto space = static_cast<Space>(op.space);
    const bool touches = op.access != 0 && (space == Space::shared || space == Space::generic);
    if (touches && opcode_of(program, op) != "LDSM" && op.bytes != 0) unit = std::min<uint32_t>(unit, op.bytes);
  }
  return unit;
}

void watched(Warp& warp, const Op& op, uint32_t mask) {
  Watch& watch = *warp.machine->watch;
  watch.before(warp, op, mask);
  const Unwatched& own = watch.unwatched(op.index);
  (mask == kFull ? own.full : own.masked)(warp, op, mask);
}

void Watch::prepare(const Program& program, const std::vector<Unwatched>& unwatched, uint32_t warps,
                    uint32_t shared_low, uint32_t shared_bytes, uint32_t local_bytes) {
  program_ = &program;
  unwatched_ = &unwatched;
  warps_ = warps, shared_low_ = shared_low, shared_bytes_ = shared_bytes, local_bytes_ = local_bytes;
  unit_ = watch_unit(program);
  roles_.clear();
  for (const Op& op : program.ops) {
    const std::string& opcode = opcode_of(program, op);
    roles_.push_back(is_shuffle(op.family)   ? Role::shuffle
                     : opcode == "LDGSTS"    ? Role::copy
                     : opcode == "LDSM"      ? Role::matrices
                     : opcode == "LDGDEPBAR" ? Role::close_group
                     : opcode == "DEPBAR"    ? Role::await_group
                                             : Role::access);
  }
  seen_.clear();
}

void Watch::start(uint32_t cta) {
  cta_ = cta;
  units_.assign(shared_bytes_ / unit_ + 1, {});
  local_written_.assign(size_t{warps_} * local_bytes_, 0);
  clocks_.assign(warps_, {});
  for (uint32_t w = 0; w < warps_; ++w) clocks_[w][w] = 1;
  given_ = {};
  words_.clear();
  group_done_.assign(warps_, std::vector<uint32_t>(1, 0));
}

bool Watch::ordered(const Access& earlier, uint32_t warp) const {
  uint32_t clock = earlier.clock;
  if (earlier.group != 0) {
    const auto& done = group_done_[earlier.warp];
    clock = earlier.group < done.size() ? done[earlier.group] : 0;
    if (clock == 0) return false;
  }
  return clock <= clocks_[warp][earlier.warp];
}

void Watch::report(WatchKind kind, uint32_t op, uint32_t other, uint32_t address, uint32_t thread,
                   uint32_t other_thread) {
  const bool is_race = kind <= WatchKind::shared_read_write;
  Seen& seen = seen_[{is_race ? WatchKind::shared_write_write : kind, std::min(op, other), std::max(op, other)}];
  if (seen.count++ == 0) seen = {1, kind, op, other, cta_, address, thread, other_thread};
}

// Whether the store leaves what is there: two that write the same value do no harm.
bool Watch::stores_the_same(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes) const {
  if (op.access != 2 || roles_[op.index] == Role::copy) return false;
  for (uint32_t word = 0; word < std::max(1u, bytes / 4); ++word) {
    if (std::memcmp(warp.shared + address + 4 * word, bytes_of(warp) + op.c + 128 * word + 4 * lane,
                    std::min(4u, bytes)) != 0)
      return false;
  }
  return true;
}

void Watch::shared(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes) {
  if (address < warp.shared_low || address + bytes > warp.shared_high) return;  // a fault follows
  const uint32_t w = warp.id, thread = w * 32 + lane;
  const bool writes = (op.access & 2) != 0, reads = (op.access & 1) != 0, atomic = op.access == 3;
  const bool copies = roles_[op.index] == Role::copy;
  if (atomic) {  // after all that atomics on this word have seen
    Clock& word = words_[address / 4];
    for (uint32_t k = 0; k < warps_; ++k) clocks_[w][k] = word[k] = std::max(clocks_[w][k], word[k]);
    ++clocks_[w][w];
  }
  Access now{clocks_[w][w], op.index, 0, static_cast<uint8_t>(w), static_cast<uint8_t>(lane), atomic};
  if (copies) now.group = static_cast<uint16_t>(group_done_[w].size());
  const uint32_t offset = address - shared_low_;
  const auto race = [&](WatchKind kind, const Access& earlier) {
    report(earlier.group != 0 && !copies ? WatchKind::shared_copy_not_awaited : kind, op.index, earlier.op, offset,
           thread, earlier.warp * 32u + earlier.lane);
  };
  const bool same = writes && stores_the_same(warp, op, lane, address, bytes);
  bool told = false;
  for (uint32_t unit = offset / unit_; unit <= (offset + bytes - 1) / unit_; ++unit) {
    Unit& record = units_[unit];
    if (reads && !atomic) {
      // The first read of this stretch stands for all: a write since would have taken it away.
      if (record.read.warp == w && record.read.clock == now.clock) continue;
      // ptxas reads whole vectors past an array's end: only the first part of one is surely wanted.
      if (record.write.clock == 0 && unit == offset / unit_) {
        report(WatchKind::shared_never_written, op.index, op.index, offset, thread, thread);
      }
      if (!told && record.write.clock != 0 && !ordered(record.write, w)) {
        race(WatchKind::shared_write_read, record.write);
        told = true;
      }
      if (record.read.warp != w && record.read.clock != 0) record.other_read = record.read;
      record.read = now;
      continue;
    }
    if (!told && !same) {
      const bool both_atomic = atomic && record.write.atomic;
      if (record.write.clock != 0 && !both_atomic && !ordered(record.write, w)) {
        race(WatchKind::shared_write_write, record.write);
        told = true;
      }
      for (const Access* read : {&record.read, &record.other_read}) {
        if (told || read->clock == 0 || ordered(*read, w)) continue;
        race(WatchKind::shared_read_write, *read);
        told = true;
      }
    }
    if (!same || record.write.clock == 0) record.write = now;
    if (!same) record.read = record.other_read = {};
  }
}

void Watch::local(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes) {
  if (address >= local_bytes_ || local_bytes_ - address < bytes) return;
  uint32_t* const written = &local_written_[size_t{warp.id} * local_bytes_ + address];
  if (op.access == 2) {
    for (uint32_t i = 0; i < bytes; ++i) written[i] |= 1u << lane;
  } else if (!(written[0] >> lane & 1)) {
    report(WatchKind::local_never_written, op.index, op.index, address, warp.id * 32 + lane, warp.id * 32 + lane);
  }
}

// A lane that reads a register of one that is not there gets what nobody defines.
void Watch::shuffle(Warp& warp, const Op& op, uint32_t mask) {
  const auto value = [&](uint32_t offset, bool one, uint32_t lane) {
    uint32_t word;
    std::memcpy(&word, bytes_of(warp) + offset + (one ? 0 : 4 * lane), 4);
    return word;
  };
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint32_t by = value(op.b, op.variant & 2, lane) & 31, control = value(op.c, op.variant & 1, lane);
    const uint32_t clamp = control & 31, segment = control >> 8 & 31;
    const int last = static_cast<int>((lane & segment) | (clamp & ~segment));
    int from = static_cast<int>(lane);
    bool in_range = true;
    switch (op.family) {
      case Family::shfl_up:
        from -= static_cast<int>(by), in_range = from >= last;
        break;
      case Family::shfl_down:
        from += static_cast<int>(by), in_range = from <= last;
        break;
      case Family::shfl_bfly:
        from ^= static_cast<int>(by), in_range = from <= last;
        break;
      default:
        from = static_cast<int>((lane & segment) | (by & ~segment)), in_range = from <= last;
        break;
    }
    if (in_range && !(mask >> from & 1)) {
      report(WatchKind::shuffle_absent_lane, op.index, op.index, 0, warp.id * 32 + lane,
             warp.id * 32 + static_cast<uint32_t>(from));
    }
  }
}

// Groups 1 … size - 1 are closed, the one that LDGDEPBAR closes next is open. DEPBAR waits until so many closed ones
// are left.
void Watch::copies_of(uint32_t warp, const Op& op) {
  std::vector<uint32_t>& done = group_done_[warp];
  if (roles_[op.index] == Role::close_group) {
    done.push_back(0);
    return;
  }
  const auto& operands = program_->sass->instructions[op.index].operands;
  const auto left = static_cast<size_t>(operands.size() > 1 ? operands[1].value : 0);
  for (size_t group = 1; group + left < done.size(); ++group) {
    if (done[group] == 0) done[group] = clocks_[warp][warp];
  }
}

void Watch::before(Warp& warp, const Op& op, uint32_t mask) {
  const Role role = roles_[op.index];
  if (role == Role::shuffle) return shuffle(warp, op, mask);
  if (role == Role::close_group || role == Role::await_group) return copies_of(warp.id, op);
  if (role == Role::matrices) {
    for (uint32_t lane = 0; lane < 8u * op.bytes && mask != 0; ++lane) {
      shared(warp, op, lane, static_cast<uint32_t>(lane_address(warp, op, lane).address), 16);
    }
    return;
  }
  uint64_t last = ~uint64_t{0};
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const LaneAddress at = lane_address(warp, op, lane);
    // Lanes that read one address are told from each other by nothing that matters here.
    if (op.access == 1 && at.space == Space::shared && at.address == last && rest != mask) continue;
    last = at.space == Space::shared ? at.address : ~uint64_t{0};
    if (at.space == Space::shared) shared(warp, op, lane, static_cast<uint32_t>(at.address), op.bytes);
    if (at.space == Space::local) local(warp, op, lane, static_cast<uint32_t>(at.address), op.bytes);
  }
}

void Watch::arrived(uint32_t warp, uint32_t barrier) {
  for (uint32_t k = 0; k < warps_; ++k) given_[barrier][k] = std::max(given_[barrier][k], clocks_[warp][k]);
  ++clocks_[warp][warp];
}

void Watch::released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting) {
  Clock all = given_[barrier];
  given_[barrier] = {};
  for (const auto& [warp, at] : waiting) {
    for (uint32_t k = 0; k < warps_; ++k) all[k] = std::max(all[k], clocks_[warp][k]);
  }
  for (const auto& [warp, at] : waiting) {
    clocks_[warp] = all;
    ++clocks_[warp][warp];
  }
  // Different instructions may be copies of one barrier in unrolled code: what counts is the place in the source.
  const auto line_of = [&](uint32_t op) {
    const auto& instruction = program_->sass->instructions[op];
    return instruction.line.line != 0 ? uint64_t{instruction.line.file} << 32 | instruction.line.line : ~uint64_t{op};
  };
  for (const auto& [warp, at] : waiting) {
    if (line_of(at) == line_of(waiting[0].second)) continue;
    report(WatchKind::barrier_uneven, at, waiting[0].second, barrier, warp * 32, waiting[0].first * 32);
  }
}

namespace {

// Unrolled code has many instructions for one line of the source: what is named is the pair of lines.
std::vector<Watch::Seen> by_line(const Program& program, const std::map<Watch::Key, Watch::Seen>& seen) {
  const auto place = [&](uint32_t op) {
    const auto& line = program.sass->instructions[op].line;
    return line.line != 0 ? source_of(program, op) : std::to_string(op);
  };
  std::map<std::tuple<WatchKind, std::string, std::string>, Watch::Seen> merged;
  for (const auto& [key, one] : seen) {
    std::string first = place(one.op), second = place(one.other);
    if (second < first) std::swap(first, second);
    Watch::Seen& all = merged[{key.kind, first, second}];
    const uint64_t count = all.count + one.count;
    if (all.count == 0 || one.cta < all.cta) all = one;
    all.count = count;
  }
  std::vector<Watch::Seen> list;
  for (const auto& [key, one] : merged) list.push_back(one);
  // A barrier that warps pass unevenly makes races of what follows: it is said first.
  std::stable_partition(list.begin(), list.end(),
                        [](const Watch::Seen& one) { return one.kind == WatchKind::barrier_uneven; });
  return list;
}

}  // namespace

std::vector<WatchFinding> findings_of(const Program& program, const std::map<Watch::Key, Watch::Seen>& seen,
                                      const std::vector<SharedName>& names) {
  std::vector<WatchFinding> findings;
  for (const Watch::Seen& one : by_line(program, seen)) {
    WatchFinding finding;
    finding.kind = one.kind;
    finding.op = one.op, finding.other = one.other;
    finding.line = source_of(program, one.op), finding.other_line = source_of(program, one.other);
    finding.count = one.count;
    finding.cta = one.cta, finding.address = one.address, finding.thread = one.thread,
    finding.other_thread = one.other_thread;
    const auto name = std::find_if(names.begin(), names.end(), [&](const SharedName& part) {
      return one.kind <= WatchKind::shared_never_written && one.address - part.offset < part.bytes;
    });
    if (name != names.end()) finding.buffer = name->name, finding.buffer_byte = one.address - name->offset;
    const std::string where = finding.buffer.empty()
                                  ? fmt::format("byte {} of shared memory", one.address)
                                  : fmt::format("byte {} of {}", finding.buffer_byte, finding.buffer);
    const auto& code = program.sass->instructions;
    const auto place = [&](uint32_t op, const std::string& line) {
      return code[op].line.line != 0 ? fmt::format("{} at {}", code[op].opcode, line)
                                     : fmt::format("{} at byte {:#x} of the code", code[op].opcode, op * 16);
    };
    const std::string here = place(one.op, finding.line), there = place(one.other, finding.other_line);
    const std::string often =
        fmt::format("; first in CTA {}, {} time{} in all", one.cta, one.count, one.count == 1 ? "" : "s");
    const auto sides = [&](const char* did, const char* does, const char* lacks) {
      return fmt::format(
          "{} (thread {}, warp {}) {} {}, then {} (thread {}, warp {}) {} it, {}{}.", there, one.other_thread,
          one.other_thread / 32, did, where, here, one.thread, one.thread / 32, does, lacks, often);
    };
    constexpr const char* unordered = "with nothing that orders the two warps between them";
    switch (one.kind) {
      case WatchKind::shared_write_write:
        finding.message = "Race: " + sides("writes", "writes", unordered);
        break;
      case WatchKind::shared_write_read:
        finding.message = "Race: " + sides("writes", "reads", unordered);
        break;
      case WatchKind::shared_read_write:
        finding.message = "Race: " + sides("reads", "writes", unordered);
        break;
      case WatchKind::shared_copy_not_awaited:
        finding.message =
            "Race: " + sides("copies to", "touches", "before the copy's group is waited for and a barrier passed");
        break;
      case WatchKind::shared_never_written:
        finding.message = fmt::format("{} (thread {}) reads {}, which nothing has written{}.", here, one.thread, where, often);
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
