// Shared memory by units and by lanes: exact, with both sides of each race.
#include <algorithm>

#include "emulator/watch/shared.h"

namespace attnscope::emulator {

using namespace watch_time;

namespace {

// These loops have no branches, so that the compiler vectorises them.
bool all_equal(const uint32_t* p, uint32_t count, uint32_t value) {
  uint32_t differ = 0;
  for (uint32_t i = 0; i < count; ++i) differ |= p[i] ^ value;
  return differ == 0;
}

// True if all of p are times ordered before what `warp` does: at most `safe`, or the warp's own and at most `own`,
// where own ≥ safe. Values above 2^31 are not times.
bool all_ordered(const uint32_t* p, uint32_t count, uint32_t safe, uint32_t warp, uint32_t own) {
  const auto most = static_cast<int32_t>(safe), own_most = static_cast<int32_t>(own);
  uint32_t bad = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto time = static_cast<int32_t>(p[i]);
    const bool own_late = (time > own_most) | ((p[i] & (kStep - 2)) != warp << 1);
    bad |= (p[i] & kCopy) | static_cast<uint32_t>((time > most) & own_late);
  }
  return bad == 0;
}

// How a warp's reads of some units are recorded: all at its time, all one below it, or each at either.
struct ReadState {
  bool noted, noted_below, since;
};
ReadState state_of(const uint32_t* reads, uint32_t count, uint32_t clock) {
  uint32_t not_now = 0, not_below = 0, since = 0;
  for (uint32_t i = 0; i < count; ++i) {
    not_now |= reads[i] ^ clock;
    not_below |= reads[i] ^ (clock - 1);
    since |= static_cast<uint32_t>(static_cast<int32_t>(reads[i]) >= static_cast<int32_t>(clock - 1));
  }
  return {not_now == 0, not_below == 0, since != 0};
}

// `read` names the warp only if no other warp has read since the last ordered access.
void note_stretch(uint32_t* reads, uint32_t* readers, uint32_t* read, uint32_t count, uint32_t warp, uint32_t clock,
                  uint32_t safe, uint32_t many, uint32_t note, uint32_t id) {
  for (uint32_t i = 0; i < count; ++i) {
    reads[i] = note;
    readers[i] = id;
    read[i] = read[i] <= safe || is_of(read[i], warp) ? clock : many;
  }
}

}  // namespace

// --- By units --------------------------------------------------------------------------------------------------------

// Records the read. If `known`, it is sound; otherwise returns false without recording if it may not be. `id`: the
// event's number once the event is kept.
bool SharedShadow::reads_soundly(const Event& now, uint32_t& id, uint32_t unit, uint32_t count, bool known) {
  uint32_t* const reads = &reads_[now.warp][unit];
  const ReadState state = state_of(reads, count, now.clock);
  if (state.noted) return true;
  // One below the warp's time, as long as a single set of lanes has read these addresses, each lane its own, since the
  // warp last synchronised.
  uint32_t note = state.since ? now.clock : now.clock - 1;
  const bool ordered = all_ordered(&written_[unit], count, now.safe, now.warp, last_before(now.clock));
  if (!ordered && by_same_lanes(now, unit, count)) {
    note = now.clock - 1;
  } else if (!ordered && !known) {
    return false;
  } else if (state.noted_below && readers_same(now, unit, count)) {
    return true;
  }
  if (id == 0) id = keep_event(now);
  note_stretch(reads, &readers_[now.warp][unit], &read_[unit], count, now.warp, now.clock, now.safe, order_->many(),
               note, id);
  return true;
}

bool SharedShadow::writes_soundly(const Event& now, uint32_t unit, uint32_t count) const {
  const auto ordered = [&](const std::vector<uint32_t>& times) {
    return all_ordered(&times[unit], count, now.safe, now.warp, last_before(now.clock));
  };
  const auto read_by_same_lanes = [&] {  // only by this warp, since it last synchronised
    return all_equal(&reads_[now.warp][unit], count, now.clock - 1) && all_equal(&read_[unit], count, now.clock) &&
           readers_same(now, unit, count);
  };
  return (ordered(written_) || by_same_lanes(now, unit, count)) && (ordered(read_) || read_by_same_lanes());
}

void SharedShadow::mark_written(const Event& now, uint32_t id, uint32_t unit, uint32_t count) {
  std::fill_n(&written_[unit], count, now.kind == Event::copy ? kCopy | groups_[now.warp].back().id : now.clock);
  std::fill_n(&writer_[unit], count, id);
}

bool SharedShadow::same_lanes(uint32_t id, const Event& now) const {
  const Event* const last = event(id);
  return last != nullptr && last->place == now.place && now.shape() != 0;
}

// True if, since the warp last synchronised, the same lanes have written all these units by one access to the same
// addresses, so that each lane meets its own write.
bool SharedShadow::by_same_lanes(const Event& now, uint32_t unit, uint32_t count) const {
  const uint32_t id = writer_[unit];
  return all_equal(&written_[unit], count, now.clock) && all_equal(&writer_[unit], count, id) && same_lanes(id, now);
}

// True if the warp's last read of these units was one access by the same lanes at the same addresses.
bool SharedShadow::readers_same(const Event& now, uint32_t unit, uint32_t count) const {
  const uint32_t id = readers_[now.warp][unit];
  return all_equal(&readers_[now.warp][unit], count, id) && same_lanes(id, now);
}

// A copy that its warp has waited for counts as a write at that time.
uint32_t SharedShadow::settled(uint32_t unit) {
  uint32_t& when = written_[unit];
  if (!(when & kCopy)) return when;
  const uint32_t id = when & ~kCopy;
  if (id <= order_->base()) return when = 0;  // of an earlier CTA
  const Event* copy = event(writer_[unit]);
  if (copy == nullptr) return when;
  for (const Group& group : groups_[copy->warp]) {
    if (group.id == id && group.done != 0) return when = group.done;
  }
  return when;
}

// --- By lanes --------------------------------------------------------------------------------------------------------

void SharedShadow::lane_access(uint32_t warp, const Op& op, uint32_t lane, uint32_t base, uint32_t bytes, bool same) {
  const Event::Kind kind = op.access == AccessKind::both   ? Event::atomic
                           : op.access == AccessKind::load ? Event::read
                                                           : Event::write;
  const Event now = event_of(warp, op, 1u << lane, 0, bytes, base, kind);
  begin_access();
  const uint32_t id = keep_event(now), units = std::max(1u, bytes / unit_);
  if (kind == Event::read) return read_units(now, id, lane, base / unit_, units);
  if (kind == Event::atomic && op.detail.atomic != Atomic::exch && !is_written(base / unit_))
    report_never_written(WatchKind::shared_never_written, now, lane, base / unit_);
  write_units(now, id, lane, base / unit_, units, same);
}

uint32_t SharedShadow::lanes_at(const Event& event, uint32_t unit) const {
  const int64_t byte = int64_t{unit} * unit_;
  if (event.shape() == 0) return byte >= event.base() && byte < int64_t{event.base()} + event.bytes ? event.mask : 0;
  const WatchShape& shape = shapes_[event.shape()];
  uint32_t lanes = 0;
  for (uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
    const int64_t from = int64_t{event.base()} + shape.delta[first_lane(rest)];
    if (byte >= from && byte < from + event.bytes) lanes |= rest & -rest;
  }
  return lanes;
}

void SharedShadow::read_units(const Event& now, uint32_t id, uint32_t lane, uint32_t first, uint32_t count) {
  std::vector<uint32_t>&reads = reads_[now.warp], &readers = readers_[now.warp];
  bool told = false;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    if (!lines_[unit / line_units_].exact) make_exact(unit / line_units_);
    // The first read since the warp last synchronised covers later ones, because a write in between would have removed
    // it.
    if (reads[unit] == now.clock && readers[unit] != id) continue;
    // ptxas reads whole vectors past an array's end, so only the first part of a vector is certainly used.
    if (!is_written(unit))
      report_never_written(unit == first ? WatchKind::shared_never_written : WatchKind::shared_part_never_written, now,
                           lane, unit);
    const uint32_t when = settled(unit);
    if (!told && when > now.safe) told = !check_writer(now, lane, unit, false);
    note_stretch(&reads[unit], &readers[unit], &read_[unit], 1, now.warp, now.clock, now.safe, order_->many(),
                 when == now.clock ? now.clock - 1 : now.clock, id);
  }
}

void SharedShadow::write_units(const Event& now, uint32_t id, uint32_t lane, uint32_t first, uint32_t count,
                               bool same) {
  bool told = false;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    Line& line = lines_[unit / line_units_];
    if (!line.exact) make_exact(unit / line_units_);
    if (same && is_written(unit)) continue;  // the value does not change
    if (!told && settled(unit) > now.safe && writer_[unit] != id) told = !check_writer(now, lane, unit, true);
    if (!told && read_[unit] > now.safe) told = !check_readers(now, lane, unit);
    mark_written(now, id, unit, 1);
    line.written |= uint64_t{1} << unit % line_units_;
    if (read_[unit] > now.safe) {
      for (auto& reads : reads_) reads[unit] = 0;
      read_[unit] = 0;
    }
  }
}

// True if the last write of the unit is ordered before the event's access by `lane`; otherwise it is reported.
bool SharedShadow::check_writer(const Event& now, uint32_t lane, uint32_t unit, bool writes) {
  const uint32_t when = settled(unit);
  if (when <= order_->base()) return true;
  const Event* const last = event(writer_[unit]);
  if (last == nullptr) return true;
  const bool own = last->warp == now.warp;
  if (!(when & kCopy)) {  // the cheap checks come first
    if (own ? when != now.clock : when <= order_->known(now.warp, last->warp)) return true;
    if (now.kind == Event::atomic && last->kind == Event::atomic) return true;
  } else if (own && now.kind == Event::copy) {
    return true;  // copies of one warp write in the order of their start
  }
  const uint32_t lanes = lanes_at(*last, unit);
  if (lanes == 0 || (!(when & kCopy) && ((own && (lanes >> lane & 1)) || log_->one_atomic(now.op, last->op))))
    return true;
  WatchKind kind = writes ? WatchKind::shared_write_write : WatchKind::shared_write_read;
  if (own) kind = writes ? WatchKind::warp_write_write : WatchKind::warp_write_read;
  if (when & kCopy) kind = WatchKind::shared_copy_not_awaited;
  report_race(kind, now, lane, *last, lanes, unit);
  return false;
}

// The same for the reads since the last write.
bool SharedShadow::check_readers(const Event& now, uint32_t lane, uint32_t unit) {
  for (uint32_t w = 0; w < warps_; ++w) {
    const uint32_t when = reads_[w][unit];
    const uint32_t known = w == now.warp ? last_before(now.clock) : order_->known(now.warp, w);
    if (when <= std::max(order_->base(), known)) continue;
    const Event* const last = event(readers_[w][unit]);
    if (last == nullptr || (last->kind == Event::atomic && now.kind == Event::atomic)) continue;
    const uint32_t lanes = lanes_at(*last, unit) & (w == now.warp ? ~(1u << lane) : kFull);
    if (lanes == 0 || log_->one_atomic(now.op, last->op)) continue;
    report_race(w == now.warp ? WatchKind::warp_read_write : WatchKind::shared_read_write, now, lane, *last, lanes,
                unit);
    return false;
  }
  return true;
}

void SharedShadow::report_never_written(WatchKind kind, const Event& event, uint32_t lane, uint32_t unit) {
  const uint32_t thread = event.warp * 32u + lane;
  log_->report(kind, event.op, event.op, unit * unit_, thread, thread);
}

// If several lanes write one word, the highest one's value stays.
void SharedShadow::report_race(WatchKind kind, const Event& event, uint32_t lane, const Event& earlier, uint32_t lanes,
                               uint32_t unit) {
  const bool wrote = earlier.kind != Event::read;
  const uint32_t other = wrote ? 31 - static_cast<uint32_t>(__builtin_clz(lanes)) : first_lane(lanes);
  log_->report(kind, event.op, earlier.op, unit * unit_, event.warp * 32u + lane, earlier.warp * 32u + other);
}

}  // namespace attnscope::emulator
