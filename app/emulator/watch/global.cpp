#include "emulator/watch/global.h"

#include <algorithm>

#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {

// --- What orders accesses
// ---------------------------------------------------------------------------------------------

void GlobalOrder::Known::join(const Known& other) {
  for (size_t w = 0; w < seen.size(); ++w) {
    seen[w] = std::max(seen[w], other.seen[w]);
    visible[w] = std::max(visible[w], other.visible[w]);
  }
}

void GlobalOrder::start(uint32_t cta, uint32_t warps) {
  cta_ = cta + 1;
  step_ = 0;
  known_.assign(warps, {});
  given_ = {};
  lanes_synced_.assign(warps, 0);
  words_.clear();
  taken_.clear();
  passes_ = {};
}

void GlobalOrder::fenced(uint32_t warp) {
  Known& own = known_[warp];
  own.seen[warp] = step_;
  own.visible = own.seen;
  ++step_;
}

void GlobalOrder::arrived(uint32_t warp, uint32_t barrier) {
  known_[warp].seen[warp] = step_;
  given_[barrier].join(known_[warp]);
  ++step_;
}

void GlobalOrder::released(uint32_t barrier, uint32_t from, uint32_t to) {
  Known all = given_[barrier];
  given_[barrier] = {};
  for (uint32_t w = 0; w < known_.size(); ++w) {
    if (!(from >> w & 1)) continue;
    known_[w].seen[w] = step_;
    all.join(known_[w]);
  }
  ++step_;
  for (uint32_t w = 0; w < known_.size(); ++w) {
    if (!(to >> w & 1)) continue;
    known_[w] = all;
    lanes_synced_[w] = step_;
  }
}

void GlobalOrder::atomic(uint32_t warp, uint64_t word) {
  Known& there = words_[word];
  Known& own = known_[warp];
  own.join(there);
  own.seen[warp] = step_;
  there = own;
}

void GlobalOrder::give(uint32_t warp, Known& to) {
  known_[warp].seen[warp] = step_;
  to.join(known_[warp]);
  ++step_;
}

void GlobalOrder::take(uint32_t warp, const Known& from) {
  known_[warp].join(from);
  lanes_synced(warp);
}

void GlobalOrder::pass(uint32_t warp, uint32_t epoch) {
  if (passes_[0].epoch == epoch) return;
  passes_[1] = passes_[0];
  passes_[0] = {epoch, warp, step_};
}

uint32_t GlobalOrder::passed(uint32_t warp) const {
  for (const Pass& one : passes_)
    if (one.warp == warp || one.step <= known_[warp].seen[one.warp]) return one.epoch;
  return 0;
}

void GlobalOrder::take(uint32_t warp, uint32_t cta, const StepClock& visible) {
  for (Taken& one : taken_) {
    if (one.cta != cta || one.warp != warp) continue;
    if (one.visible != visible) {
      one.visible = visible;
      one.step = step_;
    }
    return;
  }
  taken_.push_back({cta, visible, warp, step_});
}

GlobalOrder::Relation GlobalOrder::relation(const GlobalRecord& earlier, uint32_t warp, uint32_t lane,
                                            uint32_t step) const {
  const uint32_t other = earlier.thread / 32;
  if (earlier.cta != cta_) {
    for (const Taken& one : taken_) {
      if ((one.cta == earlier.cta || one.cta == 0) && earlier.step <= one.visible[other] && knows(warp, one))
        return Relation::ordered;
    }
    return Relation::ctas;
  }
  if (other != warp) return earlier.step <= known_[warp].seen[other] ? Relation::ordered : Relation::warps;
  const bool own = earlier.thread % 32 == lane || earlier.step == step || earlier.step <= lanes_synced_[warp];
  return own ? Relation::ordered : Relation::lanes;
}

bool GlobalOrder::gives(uint32_t warp) const {
  const StepClock& visible = known_[warp].visible;
  return std::any_of(visible.begin(), visible.end(), [](uint32_t step) { return step != 0; });
}

// --- The last accesses
// ------------------------------------------------------------------------------------------------

uint32_t GlobalShadow::find(uint64_t address) const {
  for (uint32_t i = 0; i < areas_.size(); ++i)
    if (address - areas_[i].address < areas_[i].bytes) return i + 1;
  return 0;
}

GlobalShadow::Cell& GlobalShadow::cell(uint32_t area, uint64_t unit) {
  auto& pages = areas_[area - 1].pages;
  const uint64_t page = unit / kPageUnits;
  if (page >= pages.size()) pages.resize(page + 1);
  if (pages[page] == nullptr) pages[page] = std::make_unique<Cell[]>(kPageUnits);
  return pages[page][unit % kPageUnits];
}

std::vector<UnwrittenBuffer> GlobalShadow::unwritten(const Program& program) const {
  std::vector<UnwrittenBuffer> all;
  for (const Area& area : areas_) {
    if (area.initial || area.written != nullptr) continue;
    const uint64_t units = (area.bytes + unit_ - 1) / unit_;
    UnwrittenBuffer one{area.name, 0, 0, {}};
    const GlobalRecord* beside = nullptr;  // the last write before the first gap, otherwise the first write
    for (uint64_t page = 0; page * kPageUnits < units; ++page) {
      const uint64_t begin = page * kPageUnits, count = std::min(kPageUnits, units - begin);
      const Cell* const cells = page < area.pages.size() ? area.pages[page].get() : nullptr;
      for (uint64_t i = 0; i < (cells == nullptr ? 1 : count); ++i) {
        if (cells != nullptr && cells[i].write.cta != 0) {
          if (one.bytes == 0 || beside == nullptr) beside = &cells[i].write;
          continue;
        }
        const uint64_t from = (begin + i) * unit_;
        if (one.bytes == 0) one.first = from;
        one.bytes += std::min((cells == nullptr ? count : 1) * unit_, area.bytes - from);
      }
    }
    if (one.bytes == 0) continue;
    if (beside != nullptr) one.line = source_of(program, beside->op);
    all.push_back(std::move(one));
  }
  return all;
}

void GlobalShadow::set_grid_barrier(uint64_t word, uint32_t ctas) {
  grid_.word = word;
  grid_.epochs.assign(ctas, 0);
  for (auto& one : grid_.arrived) one.assign(ctas, {});
}

void GlobalShadow::arrive(const GlobalOrder& order, uint32_t warp) {
  const uint32_t cta = order.cta() - 1, epoch = ++grid_.epochs[cta];
  grid_.arrived[epoch % kEpochs][cta] = order.visible(warp);
  uint32_t& come = grid_.come[epoch % kEpochs];
  if (++come < grid_.epochs.size()) return;
  come = 0;
  grid_.over = epoch;
}

void GlobalShadow::pass(GlobalOrder& order, uint32_t warp) const {
  const uint32_t epoch = grid_.epochs[order.cta() - 1];
  if (epoch != 0 && epoch <= grid_.over) order.pass(warp, epoch);
}

bool GlobalShadow::before_barrier(const GlobalRecord& earlier, const GlobalOrder& order, uint32_t warp) const {
  const uint32_t epoch = grid_.word == 0 ? 0 : order.passed(warp);
  return epoch != 0 && earlier.step <= grid_.arrived[epoch % kEpochs][earlier.cta - 1][earlier.thread / 32];
}

void GlobalShadow::give(uint64_t word, const GlobalOrder& order, uint32_t warp) {
  if (!order.gives(warp)) return;
  Given& given = given_[word];
  const auto add = [&](uint32_t cta, const StepClock& visible) {
    StepClock& all = given.ctas[cta];
    for (size_t w = 0; w < all.size(); ++w) all[w] = std::max(all[w], visible[w]);
  };
  add(order.cta(), order.visible(warp));
  order.each_taken(warp, [&](const GlobalOrder::Taken& one) { add(one.cta, one.visible); });
  if (given.ctas.size() > kMostGivers) given.ctas.clear(), given.too_many = true;
}

void GlobalShadow::take(uint64_t word, GlobalOrder& order, uint32_t warp) const {
  const auto found = given_.find(word);
  if (found == given_.end()) return;
  if (found->second.too_many) {
    StepClock everything;
    everything.fill(~0u);
    order.take(warp, 0, everything);
  }
  for (const auto& [cta, visible] : found->second.ctas)
    if (cta != order.cta()) order.take(warp, cta, visible);
}

// --- Checking an access
// -----------------------------------------------------------------------------------------------

namespace {

// `registers`: the registers with the lanes' addresses; `first`: the first active lane's address.
bool in_inputs(Warp& warp, uint32_t registers, uint64_t first, uint32_t mask, uint32_t bytes) {
  const MemoryRange* const range = find_range(*warp.machine, first);
  if (range == nullptr || range->writable || range->bytes >= 1u << 31 || range->bytes < bytes) return false;
  const auto* const low = reinterpret_cast<const uint32_t*>(bytes_of(warp) + registers);
  const uint32_t *const high = low + 32, lane = first_lane(mask);
  const auto from = static_cast<uint32_t>(first - range->address) - low[lane],
             most = static_cast<uint32_t>(range->bytes - bytes), wanted = high[lane];
  uint32_t outside = 0;
  for (uint32_t i = 0; i < 32; ++i)
    outside |= (mask & 1u << i) & -static_cast<uint32_t>((high[i] != wanted) | (low[i] + from > most));
  return outside == 0;
}

}  // namespace

uint32_t least_width(const Program& program, Space space) {
  uint32_t width = 4;
  for (const Op& op : program.ops) {
    if (op.access != AccessKind::none && (op.space == space || op.space == Space::generic))
      width = std::min<uint32_t>(width, op.bytes);
  }
  return width;
}

void GlobalWatch::prepare(const Program& program, GlobalShadow& shadow, WatchLog& log) {
  shadow_ = &shadow;
  log_ = &log;
  strong_.clear();
  has_fences_ = false;
  for (const Op& op : program.ops) {
    has_fences_ |= op.effect == Effect::fences_device;
    strong_.push_back(op.access == AccessKind::both || (op.flags & op_strong) != 0);
  }
}

bool GlobalWatch::reads_inputs(Warp& warp, const Op& op, uint32_t mask) const {
  return op.access == AccessKind::load &&
         in_inputs(warp, op.a, lane_address(warp, op, first_lane(mask)).address, mask, op.bytes);
}

void GlobalWatch::access(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t step = order_.next_step();
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    lane_access(warp, op, first_lane(rest), lane_address(warp, op, first_lane(rest)).address, op.access, step);
}

void GlobalWatch::copy_source(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t reads = mask & (warp.pred[op.x] ^ (op.x_invert ? kFull : 0));
  if (reads == 0 || in_inputs(warp, op.e, source_address(warp, op, first_lane(reads)), reads, op.bytes)) return;
  const auto held = turn();
  const uint32_t step = order_.next_step();
  for (uint32_t rest = reads; rest != 0; rest &= rest - 1)
    lane_access(warp, op, first_lane(rest), source_address(warp, op, first_lane(rest)), AccessKind::load, step);
}

void GlobalWatch::lane_access(Warp& warp, const Op& op, uint32_t lane, uint64_t address, AccessKind access,
                              uint32_t step) {
  const uint32_t number = shadow_->find(address);
  if (number == 0) return;  // an input, or a fault follows
  const GlobalShadow::Area& area = shadow_->areas()[number - 1];
  const uint64_t start = address - area.address;
  if (start + op.bytes > area.bytes) return;
  const bool loads = reads(access), stores = writes(access);
  if (strong_[op.index] && has_fences_) {
    const uint64_t word = address / 4;
    const bool barrier = shadow_->is_grid_barrier(address);
    if (access == AccessKind::both) order_.atomic(warp.id, word);
    if (barrier && stores) shadow_->arrive(order_, warp.id);
    if (barrier && loads) shadow_->pass(order_, warp.id);
    if (!barrier && loads) shadow_->take(word, order_, warp.id);
    if (!barrier && stores) shadow_->give(word, order_, warp.id);
  }
  const GlobalRecord now{order_.cta(), step, op.index, static_cast<uint16_t>(warp.id * 32 + lane), strong_[op.index]};
  const bool same = access == AccessKind::store && stores_the_same(warp, op, lane, area.host + start);
  const bool before = area.initial || (area.written != nullptr && (*area.written)[start]);
  if (stores && area.written != nullptr)
    std::fill_n(area.written->begin() + static_cast<ptrdiff_t>(start), op.bytes, true);
  const uint64_t unit = shadow_->unit(), first = start / unit;
  bool told = same;
  for (uint64_t i = first; i < (start + op.bytes + unit - 1) / unit; ++i) {
    GlobalShadow::Cell& cell = shadow_->cell(number, i);
    if (loads && i == first && cell.write.cta == 0 && !before)
      log_->report(WatchKind::global_never_written, op.index, op.index, start, now.thread, now.thread).area = number;
    if (!told)
      told = conflicts(cell.write, now, stores ? WatchKind::global_write_write : WatchKind::global_write_read, i * unit,
                       number);
    if (!stores) {
      GlobalRecord& last = cell.reads[0];
      if (last.cta != now.cta || last.thread / 32 != now.thread / 32) cell.reads[1] = last;
      last = now;
      continue;
    }
    for (GlobalRecord& read : cell.reads) {
      if (!told) told = conflicts(read, now, WatchKind::global_read_write, i * unit, number);
      if (!same) read = {};
    }
    if (!same || cell.write.cta == 0) cell.write = now;
  }
}

// True if nothing orders the two; the race is then reported. `kind`: the kind for warps of one CTA.
bool GlobalWatch::conflicts(const GlobalRecord& earlier, const GlobalRecord& now, WatchKind kind, uint64_t byte,
                            uint32_t area) {
  using Relation = GlobalOrder::Relation;
  if (earlier.cta == 0 || (earlier.strong && now.strong)) return false;
  const Relation relation = order_.relation(earlier, now.thread / 32u, now.thread % 32u, now.step);
  if (relation == Relation::ordered || log_->one_atomic(now.op, earlier.op)) return false;
  if (relation == Relation::ctas && shadow_->before_barrier(earlier, order_, now.thread / 32u)) return false;
  const auto from = [&](WatchKind first) {
    return static_cast<WatchKind>(static_cast<int>(first) + static_cast<int>(kind) -
                                  static_cast<int>(WatchKind::global_write_write));
  };
  if (relation == Relation::lanes) kind = from(WatchKind::warp_write_write);
  if (relation == Relation::ctas) kind = from(WatchKind::grid_write_write);
  WatchSeen& seen = log_->report(kind, now.op, earlier.op, byte, now.thread, earlier.thread);
  if (seen.count == 1) {
    seen.area = area;
    seen.other_cta = earlier.cta - 1;
  }
  return true;
}

}  // namespace attnscope::emulator
