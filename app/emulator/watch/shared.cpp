// Shared memory by lines: accesses that are proved sound without units, and copies.
#include "emulator/watch/shared.h"

#include <algorithm>

#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {

using namespace watch_time;

namespace {

bool ordered(uint32_t time, const uint32_t* before) { return time <= before[warp_of(time)]; }

}  // namespace

void SharedShadow::prepare(const Program& program, uint32_t warps, uint32_t unit, uint32_t shared_bytes,
                           SharedOrder& order, WatchLog& log) {
  program_ = &program;
  order_ = &order;
  log_ = &log;
  warps_ = warps;
  unit_ = unit;
  line_units_ = kWatchLine / unit;
  ops_ = static_cast<uint32_t>(program.ops.size());
  shapes_.prepare(unit);
  last_.assign(size_t{warps} * ops_, {});
  pattern_restarts_ = 0;
  lines_.assign(shared_bytes / kWatchLine + 1, {});
  quiet_.assign(lines_.size(), 0);
  const size_t units = lines_.size() * line_units_;
  for (auto* list : {&written_, &writer_, &read_}) list->assign(units, 0);
  reads_.assign(warps, std::vector<uint32_t>(units, 0));
  readers_.assign(warps, std::vector<uint32_t>(units, 0));
  events_.clear(), copies_.clear();
  logged_ = past_ = 0;
  first_event_ = 1;
}

uint64_t SharedShadow::bytes_taken(const Program& program, uint32_t warps, uint32_t unit, uint32_t shared_bytes) {
  const uint64_t lines = shared_bytes / kWatchLine + 1, units = lines * (kWatchLine / unit);
  const uint64_t records = 3 + uint64_t{2} * warps;  // of a unit: written_, writer_, read_; reads_ and readers_
  return warps * program.ops.size() * sizeof(Last) + lines * (sizeof(Line) + sizeof quiet_[0]) +
         units * records * sizeof(uint32_t);
}

void SharedShadow::start(bool starts_over) {
  for (Line& line : lines_) line.written = line.copied = 0;
  if (starts_over) {
    for (auto* list : {&written_, &read_}) std::fill(list->begin(), list->end(), 0);
    for (auto& list : reads_) std::fill(list.begin(), list.end(), 0);
    for (Line& line : lines_) line.wrote = line.read = 0;
    std::fill(quiet_.begin(), quiet_.end(), 0);
    std::fill(last_.begin(), last_.end(), Last{});
  }
  forget_events();
  copies_.clear();
  groups_.assign(warps_, {});
  for (uint32_t w = 0; w < warps_; ++w) close_group(w);
}

// --- Events ----------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline SharedShadow::Last& SharedShadow::last_of(uint32_t warp, const Op& op,
                                                                        const Machine& machine) {
  if (machine.pattern_restarts != pattern_restarts_) {  // the patterns were replaced
    std::fill(last_.begin(), last_.end(), Last{});
    pattern_restarts_ = machine.pattern_restarts;
  }
  return last_[size_t{warp} * ops_ + op.index];
}

[[gnu::always_inline]] inline const WatchSpans* SharedShadow::spans_of(Last& last, const Pattern& pattern,
                                                                       uint32_t bytes, uint32_t base) {
  const bool same = last.pattern == &pattern && last.spans != nullptr;
  const bool there = same && (last.base ^ base) % kWatchLine == 0;
  last.pattern = &pattern;
  last.base = base;
  last.sound = 0;
  if (there) return last.spans;
  const uint32_t shape = same ? last.spans->shape : shapes_.find(pattern, bytes);
  return last.spans = shape == 0 ? nullptr : &shapes_.spans(shape, base);
}

void SharedShadow::forget_events() {
  first_event_ += static_cast<uint32_t>(events_.size());
  if (first_event_ > kCopy / 2) first_event_ = 1;  // the lowest numbers are no longer in use
  events_.clear();
  logged_ = past_ = 0;
}

uint32_t SharedShadow::keep_event(const Event& event) {
  if (event.kind == Event::copy) {
    groups_[event.warp].back().copies.push_back(static_cast<uint32_t>(copies_.size()));
    copies_.push_back(event);
    return kCopy | static_cast<uint32_t>(copies_.size() - 1);
  }
  if (events_.size() - logged_ >= kMostLogged) {
    make_all_up();
    if (events_.size() >= kMostEvents) forget_events();
  }
  events_.push_back(event);
  return first_event_ + static_cast<uint32_t>(events_.size() - 1);
}

const SharedShadow::Event* SharedShadow::event(uint32_t id) const {
  if (id & kCopy) return (id & ~kCopy) < copies_.size() ? &copies_[id & ~kCopy] : nullptr;
  return id - first_event_ < events_.size() ? &events_[id - first_event_] : nullptr;
}

// --- Lines -----------------------------------------------------------------------------------------------------------

// What a warp wrote since it last synchronised may be read only by the lanes that wrote it.
[[gnu::always_inline]] inline bool SharedShadow::may_read(const Line& line, uint64_t units, const Event& event) const {
  if ((units & (~line.written | line.copied)) != 0) return false;
  return ordered(line.wrote, order_->before(event.warp)) ||
         (line.wrote == event.clock && ((units & line.wrote_now) == 0 || line.wrote_place == event.place));
}

// Returns true if the read adds information.
[[gnu::always_inline]] inline bool SharedShadow::note_read(uint32_t number, uint64_t units, const Event& event) {
  Line& line = lines_[number];
  if (line.read == event.clock) {
    if (line.read_place == event.place) return false;
    line.read_now |= units;
    line.read_place = 0;
    if (++line.mixed < kMostMixed) return true;
  } else if (ordered(line.read, order_->before(event.warp))) {
    line.read = event.clock;
    line.read_now = units;
    line.read_place = event.place;
    line.mixed = 0;
    return true;
  } else {
    line.read = order_->many();
    line.read_place = 0;
  }
  const uint64_t whole = ~uint64_t{0} >> (64 - line_units_);
  if (line.written == whole && line.copied == 0 && line.wrote <= order_->met()) quiet_[number] = order_->met();
  return true;
}

[[gnu::always_inline]] inline bool SharedShadow::may_write(uint32_t number, uint64_t units, const Event& event) const {
  const Line& line = lines_[number];
  if ((units & line.copied) != 0 || quiet_[number] == order_->met()) return false;
  const uint32_t* const before = order_->before(event.warp);
  if (!ordered(line.read, before) &&
      (line.read != event.clock || ((units & line.read_now) != 0 && line.read_place != event.place)))
    return false;
  // A copy is recorded in its units at once, so the list must not contain a write that would be applied to them later.
  if (event.kind == Event::copy) return line.wrote <= order_->met();
  return ordered(line.wrote, before) ||
         (line.wrote == event.clock && ((units & line.wrote_now) == 0 || line.wrote_place == event.place));
}

[[gnu::always_inline]] inline void SharedShadow::note_write(Line& line, uint64_t units, const Event& event,
                                                            uint32_t time) {
  if (line.wrote == time) {
    if (line.wrote_place != event.place) line.wrote_place = 0;
    line.wrote_now |= units;
  } else if (ordered(line.wrote, order_->before(event.warp))) {
    line.wrote = time;
    line.wrote_now = units;
    line.wrote_place = event.place;
  } else {
    line.wrote = order_->many();
    line.wrote_place = 0;
  }
}

// A read that was proved sound may repeat until its warp synchronises: a write in between is caught at the write.
void SharedShadow::read(uint32_t warp, const Op& op, const Machine& machine, const Pattern& pattern, uint32_t bytes,
                        uint32_t base) {
  Last& last = last_of(warp, op, machine);
  if (last.sound == order_->clock(warp) && last.base == base && last.pattern == &pattern) return;
  const WatchSpans* const spans = spans_of(last, pattern, bytes, base);
  const Event event = event_of(warp, op, pattern.mask, spans == nullptr ? 0 : spans->shape, bytes, base, Event::read);
  begin_access();
  uint32_t id = 0;
  if (spans != nullptr && read_lines(event, id, *spans)) {
    last.sound = event.clock;
    return;
  }
  if (id == 0) id = keep_event(event);
  each_lane(event, pattern,
            [&](uint32_t lane, uint32_t first, uint32_t count) { read_units(event, id, lane, first, count); });
}

void SharedShadow::write(Warp& warp, const Op& op, const Pattern& pattern, uint32_t base, const uint8_t* at,
                         bool copy) {
  const WatchSpans* const spans = spans_of(last_of(warp.id, op, *warp.machine), pattern, op.bytes, base);
  const Event event = event_of(warp.id, op, pattern.mask, spans == nullptr ? 0 : spans->shape, op.bytes, base,
                               copy ? Event::copy : Event::write);
  begin_access();
  const uint32_t id = keep_event(event);
  if (spans != nullptr && write_lines(event, id, *spans)) return;
  each_lane(event, pattern, [&](uint32_t lane, uint32_t first, uint32_t count) {
    write_units(event, id, lane, first, count, !copy && stores_the_same(warp, op, lane, at + pattern.delta[lane]));
  });
}

// `id`: the event's number once the event is kept.
[[gnu::always_inline]] inline bool SharedShadow::read_lines(const Event& event, uint32_t& id, const WatchSpans& spans) {
  const uint32_t first = event.base() / kWatchLine, met = order_->met();
  const uint32_t* const quiet = &quiet_[first];
  const WatchSpan *at = spans.spans.data(), *const end = at + spans.spans.size();
  while (at != end && quiet[at->line] == met) ++at;
  bool sound = true, news = at != spans.spans.data();
  for (; at != end; ++at) {
    const WatchSpan& span = *at;
    const uint32_t number = first + static_cast<uint32_t>(span.line);
    if (quiet_[number] == met) {
      news = true;
      continue;
    }
    const Line& line = lines_[number];
    if (!line.exact) {
      if (may_read(line, span.units, event)) {
        news |= note_read(number, span.units, event);
        continue;
      }
      make_exact(number);
    }
    if ((span.units & ~line.written) != 0) {
      sound = false;
      continue;
    }
    for (uint32_t i = span.first; i < span.first + span.stretches; ++i) {
      const WatchStretch& stretch = spans.stretches[i];
      sound &= reads_soundly(event, id, number * line_units_ + stretch.from, stretch.units, false);
    }
  }
  if (news && sound && id == 0) id = keep_event(event);
  return sound;
}

bool SharedShadow::write_lines(const Event& event, uint32_t id, const WatchSpans& spans) {
  const uint32_t first = event.base() / kWatchLine;
  for (const WatchSpan& span : spans.spans) {
    const uint32_t number = first + static_cast<uint32_t>(span.line);
    if (!lines_[number].exact) {
      if (may_write(number, span.units, event)) continue;
      make_exact(number);
    }
    for (uint32_t i = span.first; i < span.first + span.stretches; ++i) {
      const WatchStretch& stretch = spans.stretches[i];
      if (!writes_soundly(event, number * line_units_ + stretch.from, stretch.units)) return false;
    }
  }
  const bool copy = event.kind == Event::copy;
  for (const WatchSpan& span : spans.spans) {
    const uint32_t number = first + static_cast<uint32_t>(span.line);
    Line& line = lines_[number];
    line.written |= span.units;
    if (!line.exact && !copy) {
      note_write(line, span.units, event, event.clock);
      continue;
    }
    if (!line.exact) line.copied |= span.units;
    for (uint32_t i = span.first; i < span.first + span.stretches; ++i) {
      const WatchStretch& stretch = spans.stretches[i];
      mark_written(event, id, number * line_units_ + stretch.from, stretch.units);
    }
  }
  return true;
}

// --- Applying events to units
// -----------------------------------------------------------------------------------------

void SharedShadow::make_up(size_t number, uint32_t line, const WatchSpans& spans, const WatchSpan& span) {
  const Event& event = events_[number];
  uint32_t id = first_event_ + static_cast<uint32_t>(number);
  for (uint32_t i = span.first; i < span.first + span.stretches; ++i) {
    const WatchStretch& stretch = spans.stretches[i];
    const uint32_t unit = line * line_units_ + stretch.from;
    if (event.kind == Event::write) mark_written(event, id, unit, stretch.units);
    if (event.kind == Event::read) reads_soundly(event, id, unit, stretch.units, true);
  }
}

// Accesses of single lanes are not applied here, because they already made their lines exact.
void SharedShadow::make_exact(uint32_t line) {
  lines_[line].exact = true;
  quiet_[line] = 0;
  for (size_t i = logged_; i < past_; ++i) {
    if (events_[i].shape() == 0) continue;
    const WatchSpans& spans = shapes_.spans(events_[i].shape(), events_[i].base());
    const int64_t at = int64_t{line} - events_[i].base() / kWatchLine;
    for (const WatchSpan& span : spans.spans)
      if (span.line == at) make_up(i, line, spans, span);
  }
}

void SharedShadow::make_all_up() {
  for (size_t i = logged_; i < events_.size(); ++i) {
    if (events_[i].shape() == 0) continue;
    const WatchSpans& spans = shapes_.spans(events_[i].shape(), events_[i].base());
    for (const WatchSpan& span : spans.spans) {
      const uint32_t line = events_[i].base() / kWatchLine + static_cast<uint32_t>(span.line);
      if (!lines_[line].exact) make_up(i, line, spans, span);
    }
  }
  logged_ = events_.size();
}

// --- Asynchronous copies ---------------------------------------------------------------------------------------------

void SharedShadow::close_group(uint32_t warp) { groups_[warp].push_back({order_->open_group(), 0, {}}); }

void SharedShadow::await_groups(uint32_t warp, size_t left) {
  std::vector<Group>& groups = groups_[warp];
  for (size_t i = 0; i + 1 + left < groups.size(); ++i) {
    if (groups[i].done != 0) continue;
    groups[i].done = order_->clock(warp);
    for (const uint32_t copy : groups[i].copies) settle(copies_[copy], groups[i]);
  }
}

size_t SharedShadow::groups_arrive(uint32_t warp) {
  close_group(warp);
  return groups_[warp].size() - 1;
}

// The time is past, which only units can record.
void SharedShadow::groups_done(uint32_t warp, size_t count, uint32_t time) {
  begin_access();
  for (size_t i = 0; i < count; ++i) {
    Group& group = groups_[warp][i];
    if (group.done != 0) continue;
    group.done = time;
    for (const uint32_t number : group.copies) {
      const Event& copy = copies_[number];
      if (copy.shape() == 0) continue;  // settled() handles it
      for (const WatchSpan& span : shapes_.spans(copy.shape(), copy.base()).spans) {
        const uint32_t line = copy.base() / kWatchLine + static_cast<uint32_t>(span.line);
        if (!lines_[line].exact) make_exact(line);
      }
      settle(copy, group);
    }
  }
}

// What the copy wrote and nothing has overwritten becomes its warp's write at the time of the wait.
void SharedShadow::settle(const Event& copy, const Group& group) {
  if (copy.shape() == 0) return;  // settled() handles it
  const WatchSpans& spans = shapes_.spans(copy.shape(), copy.base());
  for (const WatchSpan& span : spans.spans) {
    const uint32_t number = copy.base() / kWatchLine + static_cast<uint32_t>(span.line);
    for (uint32_t i = span.first; i < span.first + span.stretches; ++i) {
      uint32_t* const written = &written_[number * line_units_ + spans.stretches[i].from];
      for (uint32_t k = 0; k < spans.stretches[i].units; ++k)
        written[k] = written[k] == (kCopy | group.id) ? group.done : written[k];
    }
    Line& line = lines_[number];
    if (line.exact) continue;
    line.copied &= ~span.units;
    note_write(line, span.units, copy, group.done);
  }
}

}  // namespace attnscope::emulator
