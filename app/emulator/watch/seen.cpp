#include "emulator/watch/seen.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace attnscope::emulator {

void WatchLog::prepare(const Program& program, const SharedOrder& order) {
  program_ = &program;
  order_ = &order;
  seen_.clear();
}

WatchSeen& WatchLog::report(WatchKind kind, uint32_t op, uint32_t other, uint64_t address, uint32_t thread,
                            uint32_t other_thread) {
  if (order_->ran_out()) return unheard_ = {};
  const WatchKind one_of = is_race(kind)          ? WatchKind::shared_write_write
                           : is_warp_race(kind)   ? WatchKind::warp_write_write
                           : is_global_race(kind) ? WatchKind::global_write_write
                           : is_grid_race(kind)   ? WatchKind::grid_write_write
                                                  : kind;
  WatchSeen& seen = seen_[{one_of, std::min(op, other), std::max(op, other)}];
  if (seen.count++ == 0) seen = {1, kind, op, other, cta_, cta_, thread, other_thread, address, 0};
  return seen;
}

// An atomic without its own instruction is a loop: a load, the operation, and a compare-and-swap that fails if the word
// has changed since. The swap also sees any race of the load.
bool WatchLog::one_atomic(uint32_t op, uint32_t other) const {
  const auto& code = program_->sass->instructions;
  const auto swaps = [&](uint32_t i) { return program_->ops[i].effect == Effect::swaps; };
  const auto place = [&](uint32_t i) { return std::make_pair(code[i].line.file, code[i].line.line); };
  const auto chain = [&](uint32_t i) {
    std::vector<std::pair<uint32_t, uint32_t>> lines{place(i)};
    for (const auto& line : code[i].inlined_at) lines.emplace_back(line.file, line.line);
    return lines;
  };
  return swaps(op) != swaps(other) && chain(op) == chain(other);
}

}  // namespace attnscope::emulator
