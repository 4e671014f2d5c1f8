#include "emulator/watch/touch_log.h"

#include <algorithm>

#include "emulator/exec/bind.h"
#include "emulator/exec/lane_address.h"
#include "platform/memory.h"

namespace attnscope::emulator {
namespace {

// Of a sparse buffer, bytes up to the last one for each byte that an access has. A row of a diagonal or a column has
// some hundreds; an index that overflows has millions.
constexpr uint64_t kSparse = 1u << 14;

}  // namespace

void StoredBy::all_earlier() {
  for (const auto& page : pages_)
    for (size_t at = 0; page && at < kPage; ++at)
      if (page[at] != kNever) page[at] = kEarlier;
}

TouchLog::TouchLog(BoundLaunch& bound, const GlobalMemory& memory)
    : memory_(memory), own_(bound.ops.size()), areas_(memory.buffers().size()), together_(bound.cooperative) {
  for (size_t i = 0; i < areas_.size(); ++i) areas_[i].touch.buffer = memory.buffers()[i].name;
  for (Op& op : bound.ops) {
    const bool accesses = op.access != AccessKind::none && (op.space == Space::global || op.space == Space::generic);
    if (accesses || op.effect == Effect::copies) own_[op.index] = observe(op, look, true);
  }
  bound.observe = [this] { return this; };
}

void TouchLog::start(uint32_t) {
  if (together_ && turn_ != StoredBy::kNever) return;
  if (++turn_ != StoredBy::kEarlier) return;
  turn_ = 1;
  for (Area& area : areas_) area.stored_by.all_earlier();
}

void TouchLog::look(Warp& warp, const Op& op, uint32_t mask) {
  auto& log = static_cast<TouchLog&>(*warp.machine->observer);
  // Runs before the instruction, which may overwrite the registers that hold the addresses.
  if (mask != 0) log.add(warp, op, mask);
  log.own_[op.index].handle(warp, op, mask);
}

void TouchLog::add(Warp& warp, const Op& op, uint32_t mask) {
  const bool copies = op.effect == Effect::copies;
  // Lanes of a copy whose predicate is false store zeros and read nothing.
  if (copies) mask &= warp.pred[op.x] ^ (op.x_invert ? kFull : 0);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    if (copies) {
      access(source_address(warp, op, lane), op.bytes, AccessKind::load);
      continue;
    }
    const LaneAddress at = lane_address(warp, op, lane);
    if (at.space == Space::global) access(at.address, op.bytes, op.access);
  }
}

void TouchLog::access(uint64_t address, uint32_t bytes, AccessKind kind) {
  ++accesses_;
  const auto holds = [&](const GlobalBuffer& one) {
    return address >= one.address && address - one.address < one.bytes && bytes <= one.bytes - (address - one.address);
  };
  const auto buffers = memory_.buffers();
  if (last_ >= buffers.size() || !holds(buffers[last_])) {
    last_ = static_cast<size_t>(std::ranges::find_if(buffers, holds) - buffers.begin());
    if (last_ == buffers.size()) return;  // a variable of the module, or a fault follows
  }
  Area& area = areas_[last_];
  Touch& touch = area.touch;
  const auto first = static_cast<int64_t>(address - buffers[last_].address), end = first + bytes;
  touch.begin = touch.end == 0 ? first : std::min(touch.begin, first);
  touch.end = std::max(touch.end, end);
  area.accessed += bytes;
  if (reads(kind) && !touch.read_first) {
    for (int64_t byte = first; byte < end && !touch.read_first; ++byte)
      touch.read_first = area.stored_by.empty() || area.stored_by.of(static_cast<size_t>(byte)) != turn_;
  }
  if (!writes(kind)) return;
  touch.stored = true;
  if (area.stored_by.empty()) area.stored_by.resize(buffers[last_].bytes);
  for (auto byte = static_cast<size_t>(first); byte < static_cast<size_t>(end); ++byte) {
    touch.stored_bytes += area.stored_by.of(byte) == StoredBy::kNever;
    area.stored_by.store(byte, turn_);
  }
}

std::vector<Touch> TouchLog::touches() const {
  std::vector<Touch> all;
  for (const Area& area : areas_) {
    all.push_back(area.touch);
    all.back().sparse = static_cast<uint64_t>(area.touch.end) / kSparse > area.accessed;
  }
  return all;
}

namespace {

uint64_t issued(const Program& program, const std::vector<BlockCounts>& blocks) {
  uint64_t all = 0;
  for (size_t i = 0; i < program.blocks.size(); ++i) all += blocks[i].executions * program.blocks[i].count;
  return all;
}

}  // namespace

Result<Touches> touches_of(const Launch& launch, uint64_t most_work, const std::atomic<bool>& cancel) {
  CtaOptions options;
  const uint64_t endless = options.step_budget;
  options.step_budget = std::min(endless, most_work);
  options.cancel = &cancel;
  if (auto possible = check_launch(launch, options); !possible) return fail(possible.error());
  auto bound = bind_launch(launch, options, best_host_isa());
  if (!bound) return fail(bound.error());
  const std::string& name = launch.program->sass->kernel.name;
  const uint32_t ctas = launch.grid[0] * launch.grid[1] * launch.grid[2];
  const uint64_t bytes = CtaRunner::bytes_of_cta(*bound) * (launch.cooperative ? ctas : 1);
  if (auto held = platform::hold_memory(bytes, name + ": the memory of its threads"); !held) return fail(held.error());
  const GlobalMemory none;
  const GlobalMemory& memory = launch.memory != nullptr ? *launch.memory : none;
  TouchLog log(*bound, memory);
  CtaRunner runner;
  runner.prepare(*bound);
  const std::atomic<bool> stop = false;
  const auto too_long = [] {
    return fail(Stage::deadline, "The kernel takes more instructions than this run may.", "");
  };
  const auto work_until_now = [&] { return issued(*launch.program, runner.block_counts()) + log.accesses(); };
  const CtaRunner::Together told{[](uint32_t) {}, [&] { return work_until_now() <= most_work; }};
  uint64_t work = 0;
  uint32_t cta = 0;
  for (uint32_t left = launch.cooperative ? 1 : ctas; left > 0; --left, ++cta) {
    const CtaEnd end = launch.cooperative ? runner.run_together(stop, told, cta) : runner.run(cta, stop);
    work = work_until_now();
    if (work > most_work) return too_long();
    if (end == CtaEnd::done) continue;
    if (end == CtaEnd::endless && options.step_budget < endless) return too_long();
    if (cancel) return fail(Stage::cancelled, "The emulated run was cancelled.", "");
    const Failure failure = runner.describe(end, cta, *bound, memory.spot_of(runner.machine().fault.address));
    return fail(failure);
  }
  return Touches{log.touches(), static_cast<int64_t>(work)};
}

}  // namespace attnscope::emulator
