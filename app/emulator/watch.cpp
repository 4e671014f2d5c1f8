#include "emulator/watch.h"

#include <emmintrin.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace attnscope::emulator {

namespace {

constexpr size_t kMostEvents = 1u << 22;  // without a barrier between; then the oldest are forgotten
constexpr size_t kMostShapes = 1u << 15;
// Between two times. A warp's own times say below that which warp it is, and are odd: a read of what the same warp
// wrote since it last synchronised is noted one below its time, so that every other lane that reads it is looked at
// too.
constexpr uint32_t kStep = 128, kManyWarps = kStep - 1;
constexpr uint32_t own_bits(uint32_t warp) { return warp << 1 | 1; }
constexpr uint32_t last_before(uint32_t time) {
  return (time & ~(kStep - 1)) - 1;
}  // the last of earlier steps, anyone's
constexpr bool is_of(uint32_t time, uint32_t warp) { return (time & (kStep - 1)) >> 1 == warp; }

bool is_shuffle(Family family) { return family >= Family::shfl_idx && family <= Family::shfl_bfly; }
bool is_shared_load(Family family) { return family >= Family::lds_u16 && family <= Family::lds_128; }
bool is_shared_store(Family family) { return family >= Family::sts_u16 && family <= Family::sts_128; }
const std::string& opcode_of(const Program& program, const Op& op) {
  return program.sass->instructions[op.index].opcode;
}

uint32_t first_lane(uint32_t mask) { return static_cast<uint32_t>(__builtin_ctz(mask)); }

// What follows is on x86's least vectors, which every host has.
bool all_equal(const uint32_t* p, uint32_t count, uint32_t value) {
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(value));
  uint32_t i = 0;
  __m128i same = _mm_set1_epi32(-1);
  for (; i + 4 <= count; i += 4) {
    same = _mm_and_si128(same, _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i)), wanted));
  }
  bool all = _mm_movemask_epi8(same) == 0xffff;
  for (; i < count; ++i) all &= p[i] == value;
  return all;
}

// Whether all of p are times, above `low`, that are ordered before what `warp` does: at most `safe`, or its own and at
// most `own`. Unsigned, low <= safe <= own, and own less than 2^31: what is above that is no time.
bool all_ordered(const uint32_t* p, uint32_t count, uint32_t low, uint32_t safe, uint32_t warp, uint32_t own) {
  const auto wide = [](uint32_t x) { return _mm_set1_epi32(static_cast<int>(x)); };
  const __m128i least = wide(low), most = wide(safe), own_most = wide(own), bits = wide(kStep - 2),
                mine = wide(warp << 1);
  uint32_t i = 0;
  __m128i bad = _mm_setzero_si128();  // negative numbers, which are copies' groups, fail `least`
  for (; i + 4 <= count; i += 4) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    const __m128i late = _mm_cmpgt_epi32(x, most),
                  own_late = _mm_or_si128(_mm_cmpgt_epi32(x, own_most),
                                          _mm_andnot_si128(_mm_cmpeq_epi32(_mm_and_si128(x, bits), mine), wide(~0u)));
    bad = _mm_or_si128(bad, _mm_and_si128(late, own_late));
    bad = _mm_or_si128(bad, _mm_andnot_si128(_mm_cmpgt_epi32(x, least), wide(~0u)));
  }
  bool all = _mm_movemask_epi8(bad) == 0;
  for (; i < count; ++i) {
    const auto x = static_cast<int32_t>(p[i]);
    all &= x > static_cast<int32_t>(low) && (p[i] <= safe || (is_of(p[i], warp) && p[i] <= own));
  }
  return all;
}

// Who reads, and what is ordered before: as all_ordered() has it.
struct Reader {
  uint32_t warp, clock, own, safe, low, many;
};
struct StretchState {
  bool noted, noted_below, read_since, ordered;
};

// Of some units: whether the warp's reads are all noted at its time, or all one below, or some are at either; and
// whether all writes are ordered before.
inline StretchState state_of(const uint32_t* written, const uint32_t* reads, uint32_t count, const Reader& reader) {
  const auto wide = [](uint32_t x) { return _mm_set1_epi32(static_cast<int>(x)); };
  const __m128i now = wide(reader.clock), below = wide(reader.clock - 1);
  __m128i at_now = wide(~0u), at_below = wide(~0u), none = wide(~0u);
  uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(reads + i));
    at_now = _mm_and_si128(at_now, _mm_cmpeq_epi32(x, now));
    at_below = _mm_and_si128(at_below, _mm_cmpeq_epi32(x, below));
    none = _mm_and_si128(none, _mm_cmpgt_epi32(below, x));
  }
  StretchState state{_mm_movemask_epi8(at_now) == 0xffff, _mm_movemask_epi8(at_below) == 0xffff,
                     _mm_movemask_epi8(none) != 0xffff, false};
  for (; i < count; ++i) {
    state.noted &= reads[i] == reader.clock;
    state.noted_below &= reads[i] == reader.clock - 1;
    state.read_since |= reads[i] >= reader.clock - 1;
  }
  if (!state.noted) state.ordered = all_ordered(written, count, reader.low, reader.safe, reader.warp, reader.own);
  return state;
}

// `read` says which warp it was only if no other has read since what is ordered before.
inline void note_stretch(uint32_t* reads, uint32_t* readers, uint32_t* read, uint32_t count, const Reader& reader,
                         uint32_t note, uint32_t id) {
  for (uint32_t i = 0; i < count; ++i) {
    reads[i] = note, readers[i] = id;
    read[i] = read[i] <= reader.safe || is_of(read[i], reader.warp) ? reader.clock : reader.many;
  }
}

bool has_modifier(const Program& program, const Op& op, std::string_view wanted) {
  const auto& modifiers = program.sass->instructions[op.index].modifiers;
  return std::find(modifiers.begin(), modifiers.end(), wanted) != modifiers.end();
}
bool is_device_fence(const Program& program, const Op& op) {
  return opcode_of(program, op) == "MEMBAR" && !has_modifier(program, op, "CTA");
}

}  // namespace

bool is_watched(const Program& program, const Op& op) {
  const std::string& opcode = opcode_of(program, op);
  return op.access != 0 || is_shuffle(op.family) || opcode == "LDGDEPBAR" || opcode == "DEPBAR" || opcode == "NOP" ||
         is_device_fence(program, op);
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

uint32_t global_watch_unit(const Program& program) {
  uint32_t unit = 4;
  for (const Op& op : program.ops) {
    const auto space = static_cast<Space>(op.space);
    const bool touches = op.access != 0 && (space == Space::global || space == Space::generic);
    if (touches && op.bytes != 0) unit = std::min<uint32_t>(unit, op.bytes);
  }
  return unit;
}

void watched(Warp& warp, const Op& op, uint32_t mask) { warp.machine->watch->execute(warp, op, mask); }

void Watch::prepare(const Program& program, const std::vector<Unwatched>& unwatched, GlobalShadow* shadow,
                    uint32_t warps, uint32_t shared_low, uint32_t shared_bytes, uint32_t local_bytes) {
  program_ = &program;
  unwatched_ = &unwatched;
  shadow_ = shadow;
  warps_ = warps, shared_low_ = shared_low, shared_bytes_ = shared_bytes, local_bytes_ = local_bytes;
  unit_ = watch_unit(program);
  roles_.clear(), strong_.clear();
  has_fences_ = false;
  for (const Op& op : program.ops) {
    const std::string& opcode = opcode_of(program, op);
    has_fences_ |= is_device_fence(program, op);
    strong_.push_back(op.access == 3 || has_modifier(program, op, "STRONG"));
    roles_.push_back(is_shuffle(op.family)                           ? Role::shuffle
                     : is_shared_load(op.family)                     ? Role::load
                     : is_shared_store(op.family)                    ? Role::store
                     : static_cast<Space>(op.space) == Space::local  ? Role::local
                     : opcode == "LDGSTS"                            ? Role::copy
                     : opcode == "LDSM"                              ? Role::matrices
                     : opcode == "LDGDEPBAR"                         ? Role::close_group
                     : opcode == "DEPBAR"                            ? Role::await_group
                     : opcode == "NOP"                               ? Role::warp_sync
                     : opcode == "MEMBAR"                            ? Role::fence
                     : static_cast<Space>(op.space) == Space::global ? Role::global
                                                                     : Role::access);
  }
  const size_t units = shared_bytes_ / unit_ + 1;
  for (auto* list : {&written_, &writer_, &read_}) list->assign(units, 0);
  reads_.assign(warps_, std::vector<uint32_t>(units, 0));
  readers_.assign(warps_, std::vector<uint32_t>(units, 0));
  time_ = base_ = 0;
  shapes_.assign(1, {});
  shape_ids_.assign(kPatterns, 0);
  copy_patterns_.assign(program.ops.size(), nullptr);
  noted_.assign(warps_ * program.ops.size(), {});
  patterns_ = 0;
  events_.clear(), copies_.clear();
  first_event_ = 1;
  seen_.clear();
}

void Watch::start(uint32_t cta) {
  cta_ = cta;
  if (time_ > kCopy / 2) {  // so that times never run out
    for (auto* list : {&written_, &read_}) std::fill(list->begin(), list->end(), 0);
    for (auto& list : reads_) std::fill(list.begin(), list.end(), 0);
    time_ = 0;
  }
  base_ = time_ += kStep;
  if (time_ == kStep) forget_noted();
  forget_events();
  copies_.clear();
  local_written_.assign(size_t{warps_} * local_bytes_, 0);
  clocks_.assign(warps_, {});
  groups_.assign(warps_, {});
  given_ = {};
  words_.clear();
  order_.start(cta, warps_);
  for (uint32_t w = 0; w < warps_; ++w) {
    clocks_[w].fill(base_);
    advance(w);
    groups_[w].push_back({time_, 0, {}});
  }
}

// --- What orders -----------------------------------------------------------------------------------------------------

void Watch::joined(uint32_t warp) {
  uint32_t safe = last_before(clocks_[warp][warp]);
  for (uint32_t k = 0; k < warps_; ++k) {
    if (k != warp) safe = std::min(safe, clocks_[warp][k]);
  }
  safe_[warp] = std::max(safe, base_);
}

void Watch::advance(uint32_t warp) {
  if (time_ < kCopy - kStep) time_ += kStep;
  clocks_[warp][warp] = time_ | own_bits(warp);
  joined(warp);
}

void Watch::warp_synced(uint32_t warp) {
  advance(warp);
  order_.lanes_synced(warp);
}

void Watch::arrived(uint32_t warp, uint32_t barrier) {
  for (uint32_t k = 0; k < warps_; ++k) given_[barrier][k] = std::max(given_[barrier][k], clocks_[warp][k]);
  advance(warp);
  order_.arrived(warp, barrier);
}

void Watch::released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                     uint32_t exited) {
  Clock all = given_[barrier];
  given_[barrier] = {};
  if (!whole) exited = 0;
  uint32_t warps = exited;
  const auto join = [&](uint32_t warp) {
    warps |= 1u << warp;
    for (uint32_t k = 0; k < warps_; ++k) all[k] = std::max(all[k], clocks_[warp][k]);
  };
  for (uint32_t rest = exited; rest != 0; rest &= rest - 1) join(first_lane(rest));
  uint32_t passing = 0;
  for (const auto& [warp, at] : waiting) join(warp), passing |= 1u << warp;
  // Whatever these have done until now, whenever each of them last synchronised.
  for (uint32_t rest = passing | exited; rest != 0; rest &= rest - 1) all[first_lane(rest)] = time_ | (kStep - 1);
  for (const auto& [warp, at] : waiting) clocks_[warp] = all;
  for (const auto& [warp, at] : waiting) advance(warp);
  order_.released(barrier, warps, passing);
  if (static_cast<uint32_t>(__builtin_popcount(warps)) == warps_) forget_events();
  if (!whole) return;  // its parts have code of their own
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

// The group that LDGDEPBAR closes next is open, the last of the list. DEPBAR waits until so many closed ones are left.
void Watch::copies_of(uint32_t warp, const Op& op) {
  std::vector<Group>& groups = groups_[warp];
  if (roles_[op.index] == Role::close_group) {
    if (time_ < kCopy - kStep) time_ += kStep;
    groups.push_back({time_, 0, {}});
    return;
  }
  const auto& operands = program_->sass->instructions[op.index].operands;
  const auto left = static_cast<size_t>(operands.size() > 1 ? operands[1].value : 0);
  for (size_t i = 0; i + 1 + left < groups.size(); ++i) {
    if (groups[i].done != 0) continue;
    groups[i].done = clocks_[warp][warp];
    for (const uint32_t copy : groups[i].copies) settle(copies_[copy], groups[i]);
  }
}

// --- What was done ---------------------------------------------------------------------------------------------------

// What the copy wrote and nobody has overwritten is its warp's write of the time at which it was waited for.
void Watch::settle(const Event& copy, const Group& group) {
  for (const Stretch& stretch : shapes_[copy.shape].stretches) {
    uint32_t* const written = &written_[static_cast<uint32_t>(static_cast<int64_t>(copy.base / unit_) + stretch.from)];
    for (uint32_t i = 0; i < stretch.units; ++i)
      written[i] = written[i] == (kCopy | group.id) ? group.done : written[i];
  }
}

void Watch::forget_noted() { std::fill(noted_.begin(), noted_.end(), Noted{}); }

void Watch::forget_events() {
  first_event_ += static_cast<uint32_t>(events_.size());
  if (first_event_ > kCopy / 2) first_event_ = 1;  // by then nobody asks for the first ones
  events_.clear();
}

uint32_t Watch::keep_event(const Event& event) {
  if (roles_[event.op] == Role::copy) {  // they outlive barriers
    groups_[event.warp].back().copies.push_back(static_cast<uint32_t>(copies_.size()));
    copies_.push_back(event);
    return kCopy | static_cast<uint32_t>(copies_.size() - 1);
  }
  if (events_.size() >= kMostEvents) forget_events();
  events_.push_back(event);
  return first_event_ + static_cast<uint32_t>(events_.size() - 1);
}

const Watch::Event* Watch::event(uint32_t id) const {
  if (id & kCopy) return (id & ~kCopy) < copies_.size() ? &copies_[id & ~kCopy] : nullptr;
  return id - first_event_ < events_.size() ? &events_[id - first_event_] : nullptr;
}

uint32_t Watch::lanes_at(const Event& event, uint32_t unit) const {
  const int64_t byte = int64_t{unit} * unit_;
  if (event.shape == 0) {
    return byte >= event.base && byte < int64_t{event.base} + event.bytes ? event.mask : 0;
  }
  const Shape& shape = shapes_[event.shape];
  uint32_t lanes = 0;
  for (uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
    const int64_t from = int64_t{event.base} + shape.delta[first_lane(rest)];
    if (byte >= from && byte < from + event.bytes) lanes |= rest & -rest;
  }
  return lanes;
}

uint16_t Watch::shape_of(const Machine& machine, const Pattern& pattern, uint32_t bytes) {
  uint16_t& id = shape_ids_[static_cast<size_t>(&pattern - machine.patterns)];
  const auto fits = [&](const Shape& shape) {
    return shape.mask == pattern.mask && shape.bytes == bytes &&
           std::memcmp(shape.delta.data(), pattern.delta, sizeof pattern.delta) == 0;
  };
  if (id != 0 && fits(shapes_[id])) return id;
  if (shapes_.size() >= kMostShapes) return 0;
  Shape shape;
  shape.mask = pattern.mask, shape.bytes = bytes;
  std::copy_n(pattern.delta, 32, shape.delta.begin());
  std::vector<int32_t> from;
  for (uint32_t rest = shape.mask; rest != 0; rest &= rest - 1) from.push_back(shape.delta[first_lane(rest)]);
  std::sort(from.begin(), from.end());
  const auto unit = static_cast<int32_t>(unit_);
  int32_t end = 0;
  for (const int32_t start : from) {
    const int32_t stop = start + static_cast<int32_t>(bytes);
    if (shape.stretches.empty() || start > end) {
      shape.stretches.push_back({start / unit, bytes / unit_});
    } else if (stop > end) {
      shape.stretches.back().units += static_cast<uint32_t>(stop - end) / unit_;
    }
    end = shape.stretches.size() == 1 && start == from.front() ? stop : std::max(end, stop);
  }
  shapes_.push_back(std::move(shape));
  return id = static_cast<uint16_t>(shapes_.size() - 1);
}

Watch::Seen& Watch::report(WatchKind kind, uint32_t op, uint32_t other, uint64_t address, uint32_t thread,
                           uint32_t other_thread) {
  const WatchKind one_of = is_race(kind)          ? WatchKind::shared_write_write
                           : is_warp_race(kind)   ? WatchKind::warp_write_write
                           : is_global_race(kind) ? WatchKind::global_write_write
                           : is_grid_race(kind)   ? WatchKind::grid_write_write
                                                  : kind;
  if (time_ >= kCopy - kStep) return unheard_ = {};  // 8 million synchronisations of a CTA, and times run out
  Seen& seen = seen_[{one_of, std::min(op, other), std::max(op, other)}];
  if (seen.count++ == 0) seen = {1, kind, op, other, cta_, cta_, thread, other_thread, address, 0};
  return seen;
}

// Of lanes that write one word the highest one's value stays.
void Watch::report_race(WatchKind kind, const Event& event, uint32_t lane, const Event& earlier, uint32_t lanes,
                        uint32_t unit) {
  const bool wrote = program_->ops[earlier.op].access & 2;
  const uint32_t other = wrote ? 31 - static_cast<uint32_t>(__builtin_clz(lanes)) : first_lane(lanes);
  report(kind, event.op, earlier.op, unit * unit_, event.warp * 32u + lane, earlier.warp * 32u + other);
}

// An atomic without an instruction of its own is a loop: a load, the operation, a compare-and-swap that fails if the
// word has changed since. The load races with nothing that the swap does not see.
bool Watch::one_atomic(uint32_t op, uint32_t other) const {
  const auto& code = program_->sass->instructions;
  const auto swaps = [&](uint32_t i) {
    return code[i].opcode.starts_with("ATOM") && !code[i].modifiers.empty() && code[i].modifiers[0].starts_with("CAS");
  };
  const auto place = [&](uint32_t i) { return std::make_pair(code[i].line.file, code[i].line.line); };
  const auto chain = [&](uint32_t i) {
    std::vector<std::pair<uint32_t, uint32_t>> lines{place(i)};
    for (const auto& line : code[i].inlined_at) lines.emplace_back(line.file, line.line);
    return lines;
  };
  return swaps(op) != swaps(other) && chain(op) == chain(other);
}

// A copy that its warp has waited for since is a write of that time.
uint32_t Watch::settled(uint32_t unit) {
  uint32_t& when = written_[unit];
  if (!(when & kCopy)) return when;
  const uint32_t id = when & ~kCopy;
  if (id <= base_) return when = 0;  // of a CTA before
  const Event* copy = event(writer_[unit]);
  if (copy == nullptr) return when;
  for (const Group& group : groups_[copy->warp]) {
    if (group.id == id && group.done != 0) return when = group.done;
  }
  return when;
}

// Whether the last write of the unit is ordered before the event's access by `lane`; else it is reported.
bool Watch::check_writer(const Event& now, uint32_t lane, uint32_t unit, bool writes) {
  const uint32_t when = settled(unit);
  if (when <= base_) return true;
  const Event* const last = event(writer_[unit]);
  if (last == nullptr) return true;
  const bool own = last->warp == now.warp;
  if (!(when & kCopy)) {  // what is cheap first
    if (own ? when != clocks_[now.warp][now.warp] : when <= clocks_[now.warp][last->warp]) return true;
    if (now.atomic && last->atomic) return true;
  } else if (own && roles_[now.op] == Role::copy) {
    return true;  // in the order that they were begun
  }
  const uint32_t lanes = lanes_at(*last, unit);
  if (lanes == 0 || (!(when & kCopy) && ((own && (lanes >> lane & 1)) || one_atomic(now.op, last->op)))) return true;
  WatchKind kind = writes ? WatchKind::shared_write_write : WatchKind::shared_write_read;
  if (own) kind = writes ? WatchKind::warp_write_write : WatchKind::warp_write_read;
  if (when & kCopy) kind = WatchKind::shared_copy_not_awaited;
  report_race(kind, now, lane, *last, lanes, unit);
  return false;
}

// The same of the reads since the last write.
bool Watch::check_readers(const Event& now, uint32_t lane, uint32_t unit) {
  for (uint32_t w = 0; w < warps_; ++w) {
    const uint32_t when = reads_[w][unit];
    const uint32_t known = w == now.warp ? last_before(clocks_[w][w]) : clocks_[now.warp][w];
    if (when <= std::max(base_, known)) continue;
    const Event* const last = event(readers_[w][unit]);
    if (last == nullptr || (last->atomic && now.atomic)) continue;
    const uint32_t lanes = lanes_at(*last, unit) & (w == now.warp ? ~(1u << lane) : kFull);
    if (lanes == 0 || one_atomic(now.op, last->op)) continue;
    report_race(w == now.warp ? WatchKind::warp_read_write : WatchKind::shared_read_write, now, lane, *last, lanes,
                unit);
    return false;
  }
  return true;
}

void Watch::read_units(const Event& now, uint32_t id, uint32_t lane, uint32_t first, uint32_t count) {
  const uint32_t clock = clocks_[now.warp][now.warp];
  const Reader reader{now.warp, clock, last_before(clock), safe_[now.warp], base_, time_ | kManyWarps};
  std::vector<uint32_t>&reads = reads_[now.warp], &readers = readers_[now.warp];
  bool told = false;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    // The first read of this stretch of time stands for all: a write since would have taken it away.
    if (reads[unit] == clock && readers[unit] != id) continue;
    const uint32_t when = settled(unit);
    // ptxas reads whole vectors past an array's end: only the first part of one is surely wanted.
    if (when <= base_ && unit == first) {
      report(WatchKind::shared_never_written, now.op, now.op, unit * unit_, now.warp * 32u + lane,
             now.warp * 32u + lane);
    }
    if (!told && when > safe_[now.warp]) told = !check_writer(now, lane, unit, false);
    note_stretch(&reads[unit], &readers[unit], &read_[unit], 1, reader, when == clock ? clock - 1 : clock, id);
  }
}

void Watch::write_units(const Event& now, uint32_t id, uint32_t lane, uint32_t first, uint32_t count, bool same) {
  const uint32_t w = now.warp, safe = safe_[w];
  const bool copy = roles_[now.op] == Role::copy;
  bool told = same;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    if (!told && settled(unit) > safe && writer_[unit] != id) told = !check_writer(now, lane, unit, true);
    if (!told && read_[unit] > safe) told = !check_readers(now, lane, unit);
    if (same && settled(unit) > base_) continue;  // what was there stays as it was
    written_[unit] = copy ? kCopy | groups_[w].back().id : clocks_[w][w];
    writer_[unit] = id;
    if (read_[unit] > safe) {
      for (auto& reads : reads_) reads[unit] = 0;
      read_[unit] = 0;
    }
  }
}

// Whether the store leaves what is there: two that write the same value do no harm.
bool Watch::stores_the_same(Warp& warp, const Op& op, uint32_t lane, const uint8_t* at, uint32_t bytes) const {
  if (op.access != 2 || roles_[op.index] == Role::copy) return false;
  for (uint32_t word = 0; word < std::max(1u, bytes / 4); ++word) {
    if (std::memcmp(at + 4 * word, bytes_of(warp) + op.c + 128 * word + 4 * lane, std::min(4u, bytes)) != 0)
      return false;
  }
  return true;
}

// --- The instructions ------------------------------------------------------------------------------------------------

void Watch::execute(Warp& warp, const Op& op, uint32_t mask) {
  const Role role = roles_[op.index];
  if (role == Role::load && mask != 0) return load(warp, op, mask, mask, op.bytes);
  // LDSM: lane 8k + r gives the address of row r of matrix k, active or not.
  if (role == Role::matrices && mask != 0)
    return load(warp, op, mask, op.bytes == 4 ? kFull : (1u << 8 * op.bytes) - 1, 16);
  if (mask != 0) {
    switch (role) {
      case Role::store:
        store(warp, op, mask);
        break;
      case Role::copy:
        global_source(warp, op, mask);
        store(warp, op, mask);
        break;
      case Role::local:
        local(warp, op, mask);
        break;
      case Role::shuffle:
        shuffle(warp, op, mask);
        break;
      case Role::warp_sync:
        warp_synced(warp.id);
        break;
      case Role::fence:
        order_.fenced(warp.id);
        break;
      case Role::global:
        return global(warp, op, mask);
      case Role::close_group:
      case Role::await_group:
        copies_of(warp.id, op);
        break;
      default: {
        std::unique_lock<std::mutex> turn;  // at what other CTAs may touch too
        if (static_cast<Space>(op.space) == Space::generic) turn = std::unique_lock(shadow_->mutex());
        before(warp, op, mask);
        return handle(warp, op, mask);
      }
    }
  }
  handle(warp, op, mask);
}

namespace {

struct Base {
  uint32_t lane, address;
};
Base base_of(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t lane = first_lane(mask);
  return {lane, static_cast<uint32_t>(lane_address(warp, op, lane).address)};
}

}  // namespace

// The handler finds the pattern of the lanes' addresses. It may write over the register that held them: the base is
// taken before.
// What an instruction has read once without doubt it may read again until its warp synchronises: a write between is
// found out by the one who writes.
void Watch::load(Warp& warp, const Op& op, uint32_t mask, uint32_t lanes, uint32_t bytes) {
  const uint32_t address = base_of(warp, op, lanes).address;
  handle(warp, op, mask);
  if (warp.machine->fault.kind != FaultKind::none) return;
  const uint32_t base = address - shared_low_, clock = clocks_[warp.id][warp.id], safe = safe_[warp.id];
  if (warp.machine->pattern_count < patterns_) forget_noted();  // they are others now
  patterns_ = warp.machine->pattern_count;
  Noted& noted = noted_[warp.id * roles_.size() + op.index];
  const Noted same{warp.machine->last[op.index], base, clock};
  if (noted == same) return;
  const uint16_t shape_id = shape_of(*warp.machine, *warp.machine->last[op.index], bytes);
  const auto at = static_cast<int64_t>(base / unit_);
  uint32_t* const reads = reads_[warp.id].data();
  uint32_t id = 0;
  const auto now = [&] {
    return Event{op.index, lanes, base, shape_id, static_cast<uint8_t>(warp.id), static_cast<uint8_t>(bytes), false};
  };
  const Reader reader{warp.id, clock, last_before(clock), safe, base_, time_ | kManyWarps};
  bool doubtful = shape_id == 0;
  for (const Stretch& stretch : shapes_[shape_id].stretches) {
    const auto unit = static_cast<uint32_t>(at + stretch.from);
    const StretchState state = state_of(&written_[unit], reads + unit, stretch.units, reader);
    if (state.noted) continue;
    // One below the warp's time as long as one set of lanes has read at these addresses since the warp last
    // synchronised, each its own.
    uint32_t note = state.read_since ? clock : clock - 1;
    if (!state.ordered) {
      if (!by_same_lanes(warp.id, unit, stretch.units, shape_id, base)) {
        doubtful = true;
        continue;
      }
      note = clock - 1;
    } else if (state.noted_below && readers_same(warp.id, unit, stretch.units, shape_id, base)) {
      continue;
    }
    if (id == 0) id = keep_event(now());
    note_stretch(reads + unit, &readers_[warp.id][unit], &read_[unit], stretch.units, reader, note, id);
  }
  if (!doubtful) {
    noted = same;
    return;
  }
  const Pattern& pattern = *warp.machine->last[op.index];
  const Event event = now();
  if (id == 0) id = keep_event(event);
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    read_units(event, id, lane, (base + static_cast<uint32_t>(pattern.delta[lane])) / unit_, bytes / unit_);
  }
}

// The warp's lanes have written all units by one access to these addresses since they last synchronised: each lane
// meets what it wrote itself.
bool Watch::by_same_lanes(uint32_t warp, uint32_t unit, uint32_t count, uint16_t shape, uint32_t base) const {
  const uint32_t id = writer_[unit];
  if (!all_equal(&written_[unit], count, clocks_[warp][warp]) || !all_equal(&writer_[unit], count, id)) return false;
  return same_lanes(id, shape, base);
}

bool Watch::same_lanes(uint32_t id, uint16_t shape, uint32_t base) const {
  const Event* const last = event(id);
  if (last == nullptr || last->base != base) return false;
  const Shape &a = shapes_[last->shape], &b = shapes_[shape];
  return last->shape == shape || (a.mask == b.mask && a.bytes == b.bytes && a.delta == b.delta);
}

// The warp's last reads of these units were one access by these lanes at these addresses.
bool Watch::readers_same(uint32_t warp, uint32_t unit, uint32_t count, uint16_t shape, uint32_t base) const {
  const uint32_t id = readers_[warp][unit];
  return all_equal(&readers_[warp][unit], count, id) && same_lanes(id, shape, base);
}

// The same of all reads of this warp since it last synchronised.
bool Watch::read_by_same_lanes(uint32_t warp, uint32_t unit, uint32_t count, uint16_t shape, uint32_t base) const {
  const uint32_t clock = clocks_[warp][warp];
  return all_equal(&reads_[warp][unit], count, clock - 1) && all_equal(&read_[unit], count, clock) &&
         readers_same(warp, unit, count, shape, base);
}

namespace {

Access access_of(const Op& op) {
  const int width = op.bytes == 2 ? 0 : op.bytes == 4 ? 1 : op.bytes == 8 ? 2 : 3;
  return static_cast<Access>(4 + width);
}

}  // namespace

// The instruction's last pattern, if it is that still. A copy's own in the machine is that of its global side.
const Pattern& Watch::store_pattern(Machine& machine, const Op& op, const int32_t (&delta)[32], uint32_t mask,
                                    uint32_t phase) {
  const bool copy = roles_[op.index] == Role::copy;
  const Pattern* const own = machine.last[op.index];
  const Pattern*& last = copy ? copy_patterns_[op.index] : machine.last[op.index];
  const Access access = access_of(op);
  if (last != nullptr && last->mask == mask && last->phase == phase && last->access == static_cast<uint8_t>(access) &&
      std::memcmp(last->delta, delta, sizeof delta) == 0)
    return *last;
  const uint32_t patterns = machine.pattern_count;
  last = &find_pattern(machine, op.index, access, delta, mask, phase);
  if (copy) machine.last[op.index] = machine.pattern_count >= patterns ? own : machine.none;  // not if it began anew
  return *last;
}

// Stores, and the shared side of asynchronous copies.
void Watch::store(Warp& warp, const Op& op, uint32_t mask) {
  alignas(16) int32_t delta[32] = {};
  const Base first = base_of(warp, op, mask);
  uint32_t registers[32];
  std::memcpy(registers, bytes_of(warp) + op.a, sizeof registers);
  const uint32_t origin = registers[first.lane] << op.shift;
  for (uint32_t lane = 0; lane < 32; ++lane)
    delta[lane] =
        static_cast<int32_t>((registers[lane] << op.shift) - origin) & -static_cast<int32_t>(mask >> lane & 1);
  const uint32_t phase = first.address & (op.bytes < 4 ? 3u : op.bytes - 1u);
  const bool copy = roles_[op.index] == Role::copy;
  const Pattern& pattern = store_pattern(*warp.machine, op, delta, mask, phase);
  const int64_t low = int64_t{first.address} + pattern.low, high = int64_t{first.address} + pattern.high;
  if (low < warp.shared_low || high + op.bytes > warp.shared_high || !pattern.aligned) return;  // a fault follows
  const uint32_t base = first.address - shared_low_, safe = safe_[warp.id], clock = clocks_[warp.id][warp.id];
  const uint16_t shape_id = shape_of(*warp.machine, pattern, op.bytes);
  const Event event{op.index, mask, base, shape_id, static_cast<uint8_t>(warp.id), op.bytes, false};
  const uint32_t id = keep_event(event);
  const auto at = static_cast<int64_t>(base / unit_);
  bool sure = shape_id != 0;
  const auto ordered = [&](const std::vector<uint32_t>& times, uint32_t unit, uint32_t count) {
    return all_ordered(&times[unit], count, ~0u, safe, warp.id, last_before(clock));
  };
  for (const Stretch& stretch : shapes_[shape_id].stretches) {
    const auto unit = static_cast<uint32_t>(at + stretch.from);
    sure = sure &&
           (ordered(written_, unit, stretch.units) || by_same_lanes(warp.id, unit, stretch.units, shape_id, base)) &&
           (ordered(read_, unit, stretch.units) || read_by_same_lanes(warp.id, unit, stretch.units, shape_id, base));
  }
  if (sure) {
    const uint32_t when = copy ? kCopy | groups_[warp.id].back().id : clock;
    for (const Stretch& stretch : shapes_[shape_id].stretches) {
      const auto unit = static_cast<uint32_t>(at + stretch.from);
      std::fill_n(&written_[unit], stretch.units, when);
      std::fill_n(&writer_[unit], stretch.units, id);
    }
    return;
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest), offset = base + static_cast<uint32_t>(delta[lane]);
    write_units(event, id, lane, offset / unit_, op.bytes / unit_,
                stores_the_same(warp, op, lane, warp.shared + offset + shared_low_, op.bytes));
  }
}

// Everything else that touches shared memory, or may: a lane at a time.
void Watch::before(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t step = static_cast<Space>(op.space) == Space::generic ? order_.next_step() : 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    const LaneAddress at = lane_address(warp, op, lane);
    if (at.space == Space::shared) lane_access(warp, op, lane, static_cast<uint32_t>(at.address), op.bytes);
    if (at.space == Space::local) local_lane(warp, op, lane, static_cast<uint32_t>(at.address));
    if (at.space == Space::global) global_lane(warp, op, lane, at.address, op.access, step);
  }
}

void Watch::lane_access(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes) {
  if (address < warp.shared_low || address + bytes > warp.shared_high) return;  // a fault follows
  const uint32_t w = warp.id, base = address - shared_low_;
  const bool atomic = op.access == 3;
  if (atomic) {  // after all that atomics on this word have seen
    Clock& word = words_[address / 4];
    for (uint32_t k = 0; k < warps_; ++k) clocks_[w][k] = word[k] = std::max(clocks_[w][k], word[k]);
    advance(w);
    order_.atomic(w, address / 4);
  }
  const Event event{op.index, 1u << lane, base, 0, static_cast<uint8_t>(w), static_cast<uint8_t>(bytes), atomic};
  const uint32_t id = keep_event(event), units = std::max(1u, bytes / unit_);
  if (op.access == 1) return read_units(event, id, lane, base / unit_, units);
  write_units(event, id, lane, base / unit_, units, stores_the_same(warp, op, lane, warp.shared + address, bytes));
}

void Watch::local(Warp& warp, const Op& op, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    local_lane(warp, op, lane, static_cast<uint32_t>(lane_address(warp, op, lane).address));
  }
}

void Watch::local_lane(Warp& warp, const Op& op, uint32_t lane, uint32_t address) {
  if (address >= local_bytes_ || local_bytes_ - address < op.bytes) return;
  uint32_t* const written = &local_written_[size_t{warp.id} * local_bytes_ + address];
  if (op.access == 2) {
    for (uint32_t i = 0; i < op.bytes; ++i) written[i] |= 1u << lane;
  } else if (!(written[0] >> lane & 1)) {
    report(WatchKind::local_never_written, op.index, op.index, address, warp.id * 32 + lane, warp.id * 32 + lane);
  }
}

// --- Global memory ---------------------------------------------------------------------------------------------------

// Whether all lanes read one buffer that nothing may write. `first`: the first active lane's address, `registers`:
// where the lanes' lie.
bool Watch::reads_inputs(Warp& warp, uint32_t registers, uint64_t first, uint32_t mask, uint32_t bytes) const {
  const MemoryRange* const range = find_range(*warp.machine, first);
  if (range == nullptr || range->writable || range->bytes >= 1u << 31 || range->bytes < bytes) return false;
  uint32_t low[32], high[32];
  std::memcpy(low, bytes_of(warp) + registers, sizeof low);
  std::memcpy(high, bytes_of(warp) + registers + 128, sizeof high);
  const uint32_t lane = first_lane(mask), from = static_cast<uint32_t>(first - range->address) - low[lane];
  const auto most = static_cast<int32_t>(range->bytes - bytes);
  int32_t outside = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const auto at = static_cast<int32_t>(low[i] + from);
    const int32_t wrong = (at < 0) | (at > most) | (high[i] != high[lane]);
    outside |= wrong & static_cast<int32_t>(mask >> i & 1);
  }
  return outside == 0;
}

void Watch::global(Warp& warp, const Op& op, uint32_t mask) {
  if (op.access == 1 && reads_inputs(warp, op.a, lane_address(warp, op, first_lane(mask)).address, mask, op.bytes))
    return handle(warp, op, mask);
  // To its end: what a store is compared with is what it overwrites.
  const std::lock_guard turn(shadow_->mutex());
  const uint32_t step = order_.next_step();
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    global_lane(warp, op, lane, lane_address(warp, op, lane).address, op.access, step);
  }
  handle(warp, op, mask);
}

void Watch::global_source(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t reads = mask & (warp.pred[op.x] ^ (op.x_invert ? kFull : 0));
  if (reads == 0 || reads_inputs(warp, op.e, source_address(warp, op, first_lane(reads)), reads, op.bytes)) return;
  const std::lock_guard turn(shadow_->mutex());
  const uint32_t step = order_.next_step();
  for (uint32_t rest = reads; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    global_lane(warp, op, lane, source_address(warp, op, lane), 1, step);
  }
}

void Watch::global_lane(Warp& warp, const Op& op, uint32_t lane, uint64_t address, uint32_t access, uint32_t step) {
  area_ = shadow_->find(address);
  if (area_ == 0) return;  // an input, or a fault follows
  const GlobalShadow::Area& area = shadow_->areas()[area_ - 1];
  const uint64_t start = address - area.address;
  if (start + op.bytes > area.bytes) return;
  const bool reads = access & 1, writes = access & 2;
  if (strong_[op.index] && has_fences_) {
    const uint64_t word = address / 4;
    if (access == 3) order_.atomic(warp.id, word);
    if (reads) shadow_->take(word, order_, warp.id);
    if (writes) shadow_->give(word, order_, warp.id);
  }
  const GlobalRecord now{order_.cta(), step, op.index, static_cast<uint16_t>(warp.id * 32 + lane), strong_[op.index]};
  const bool same = access == 2 && stores_the_same(warp, op, lane, area.host + start, op.bytes);
  const uint64_t unit = shadow_->unit(), first = start / unit;
  bool told = same;
  for (uint64_t i = first; i < (start + op.bytes + unit - 1) / unit; ++i) {
    GlobalShadow::Cell& cell = shadow_->cell(area_, i);
    if (reads && i == first && cell.write.cta == 0 && !area.initial)
      report(WatchKind::global_never_written, op.index, op.index, start, now.thread, now.thread).area = area_;
    if (!told)
      told =
          conflicts(cell.write, now, writes ? WatchKind::global_write_write : WatchKind::global_write_read, i * unit);
    if (!writes) {
      GlobalRecord& last = cell.reads[0];
      if (last.cta != now.cta || last.thread / 32 != now.thread / 32) cell.reads[1] = last;
      last = now;
      continue;
    }
    for (GlobalRecord& read : cell.reads) {
      if (!told) told = conflicts(read, now, WatchKind::global_read_write, i * unit);
      if (!same) read = {};
    }
    if (!same || cell.write.cta == 0) cell.write = now;
  }
}

// Whether nothing orders the two; then it is reported. `kind`: as between warps of a CTA.
bool Watch::conflicts(const GlobalRecord& earlier, const GlobalRecord& now, WatchKind kind, uint64_t byte) {
  using Relation = GlobalOrder::Relation;
  if (earlier.cta == 0 || (earlier.strong && now.strong)) return false;
  const Relation relation = order_.relation(earlier, now.thread / 32u, now.thread % 32u, now.step);
  if (relation == Relation::ordered || one_atomic(now.op, earlier.op)) return false;
  const auto from = [&](WatchKind first) {
    return static_cast<WatchKind>(static_cast<int>(first) + static_cast<int>(kind) -
                                  static_cast<int>(WatchKind::global_write_write));
  };
  if (relation == Relation::lanes) kind = from(WatchKind::warp_write_write);
  if (relation == Relation::ctas) kind = from(WatchKind::grid_write_write);
  Seen& seen = report(kind, now.op, earlier.op, byte, now.thread, earlier.thread);
  if (seen.count == 1) seen.area = area_, seen.other_cta = earlier.cta - 1;
  return true;
}

// A lane that reads a register of one that is not there gets what nobody defines.
void Watch::shuffle(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == kFull) return;
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

}  // namespace attnscope::emulator
