#pragma once
#include <cstdint>
#include <vector>

#include "emulator/isa/program.h"
#include "emulator/watch/order.h"
#include "emulator/watch/seen.h"
#include "emulator/watch/shape.h"

namespace attnscope::emulator {

// Who last wrote and read each part of a CTA's shared memory. Everything before the last barrier that all warps passed
// is ordered before everything after it.
//
// An access is checked in up to three ways, the next only if the previous one cannot prove it sound (shared.cpp,
// units.cpp):
// 1. By lines of 64 bytes: each records when it was last written and read, and by which warp if only one did. As long
//    as that proves every access to the line sound, accesses are only added to a list of events, which a barrier of all
//    warps clears.
// 2. By units, for the other lines: these are exact from then on. Events of the list that touch such a line are first
//    applied to its units.
// 3. By lanes, which finds both sides of a race.
class SharedShadow {
 public:
  // `unit`: the bytes of one record, the smallest width of any access to shared memory: 1, 2 or 4.
  void prepare(const Program& program, uint32_t warps, uint32_t unit, uint32_t shared_bytes, SharedOrder& order,
               WatchLog& log);
  // What prepare() takes.
  static uint64_t bytes_taken(const Program& program, uint32_t warps, uint32_t unit, uint32_t shared_bytes);
  void start(bool starts_over);    // begins the next CTA; starts_over: the result of SharedOrder::start()
  void met() { forget_events(); }  // all warps have passed one barrier

  // `base`: byte of the first active lane's access. All accesses are inside shared memory and aligned.
  void read(uint32_t warp, const Op& op, const Machine& machine, const Pattern& pattern, uint32_t bytes, uint32_t base);
  // `at`: the host address of that byte.
  void write(Warp& warp, const Op& op, const Pattern& pattern, uint32_t base, const uint8_t* at, bool copy);
  // One lane by itself, as in an atomic. `same`: the store does not change the value; two such stores are not a race.
  void lane_access(uint32_t warp, const Op& op, uint32_t lane, uint32_t base, uint32_t bytes, bool same);

  // LDGDEPBAR closes a warp's open group of copies; a wait leaves a given number of closed groups pending.
  void close_group(uint32_t warp);
  void await_groups(uint32_t warp, size_t left);
  // The copies of a warp arrive at an mbarrier: closes its open group. Returns how many groups have arrived.
  size_t groups_arrive(uint32_t warp);
  // Somebody has waited for that phase: these groups become their warp's writes at `time`, when they arrived.
  void groups_done(uint32_t warp, size_t groups, uint32_t time);

 private:
  static constexpr uint32_t kOffsetBits = 18;
  static_assert(kMostSharedBytes < 1u << kOffsetBits);
  static_assert(WatchShapes::kMost <= 1u << (32 - kOffsetBits));
  static constexpr uint8_t kMostMixed = 4;         // reads of a line by one warp that are distinguished
  static constexpr size_t kMostEvents = 3u << 20;  // between two barriers; beyond this the oldest are forgotten
  static constexpr size_t kMostLogged = 1u << 13;  // events that may have to be applied to an exact line's units

  struct Line {
    uint64_t written = 0;                      // units written by this CTA
    uint64_t copied = 0;                       // units written by pending copies
    uint64_t wrote_now = 0, read_now = 0;      // units accessed at the times below
    uint32_t wrote = 0, read = 0;              // last time: a warp's own, or one of many warps
    uint32_t wrote_place = 0, read_place = 0;  // place of all accesses at that time; 0: they differ
    uint8_t mixed = 0;                         // number of reads at that time by different lanes
    bool exact = false;                        // for the rest of the run; only `written` of the above is then used
  };
  // One access of a warp, kept until all warps have passed a barrier.
  struct Event {
    enum Kind : uint8_t { read, write, copy, atomic };
    uint32_t op = 0, mask = 0;
    uint32_t place = 0;            // shape and base combined: which lanes access which bytes
    uint32_t clock = 0, safe = 0;  // the warp's at that time
    uint8_t warp = 0, bytes = 0;
    Kind kind = read;
    uint32_t base() const { return place & ((1u << kOffsetBits) - 1); }  // byte offset
    uint32_t shape() const { return place >> kOffsetBits; }              // 0: one lane
  };
  struct Group {
    uint32_t id = 0, done = 0;     // when it opened, and when its warp waited for it; 0: not yet
    std::vector<uint32_t> copies;  // numbers in copies_
  };
  // The last access of an instruction of a warp.
  struct Last {
    const Pattern* pattern = nullptr;
    const WatchSpans* spans = nullptr;
    uint32_t base = 0;
    uint32_t sound = 0;  // the warp's time at which this read was proved sound
  };

  // By lines:
  Last& last_of(uint32_t warp, const Op& op, const Machine& machine);
  // nullptr: no room for another shape.
  const WatchSpans* spans_of(Last& last, const Pattern& pattern, uint32_t bytes, uint32_t base);
  Event event_of(uint32_t warp, const Op& op, uint32_t mask, uint32_t shape, uint32_t bytes, uint32_t base,
                 Event::Kind kind) const {
    return {op.index,
            mask,
            shape << kOffsetBits | base,
            order_->clock(warp),
            order_->safe(warp),
            static_cast<uint8_t>(warp),
            static_cast<uint8_t>(bytes),
            kind};
  }
  void begin_access() { past_ = events_.size(); }
  uint32_t keep_event(const Event& event);  // returns its number
  const Event* event(uint32_t id) const;    // nullptr: forgotten
  void forget_events();
  bool read_lines(const Event& event, uint32_t& id, const WatchSpans& spans);
  bool write_lines(const Event& event, uint32_t id, const WatchSpans& spans);
  bool may_read(const Line& line, uint64_t units, const Event& event) const;
  bool may_write(uint32_t line, uint64_t units, const Event& event) const;
  bool note_read(uint32_t line, uint64_t units, const Event& event);
  void note_write(Line& line, uint64_t units, const Event& event, uint32_t time);
  void make_exact(uint32_t line);
  void make_all_up();
  void make_up(size_t event, uint32_t line, const WatchSpans& spans, const WatchSpan& span);
  void settle(const Event& copy, const Group& group);

  // By units:
  bool reads_soundly(const Event& event, uint32_t& id, uint32_t unit, uint32_t count, bool known);
  bool writes_soundly(const Event& event, uint32_t unit, uint32_t count) const;
  void mark_written(const Event& event, uint32_t id, uint32_t unit, uint32_t count);
  bool same_lanes(uint32_t id, const Event& event) const;
  bool by_same_lanes(const Event& event, uint32_t unit, uint32_t count) const;
  bool readers_same(const Event& event, uint32_t unit, uint32_t count) const;
  uint32_t settled(uint32_t unit);  // written_, after an awaited copy was replaced by its warp's write
  bool is_written(uint32_t unit) const { return lines_[unit / line_units_].written >> unit % line_units_ & 1; }

  // By lanes:
  template <class Each>
  void each_lane(const Event& event, const Pattern& pattern, Each each) {
    for (uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
      const auto lane = first_lane(rest);
      each(lane, (event.base() + static_cast<uint32_t>(pattern.delta[lane])) / unit_, event.bytes / unit_);
    }
  }
  uint32_t lanes_at(const Event& event, uint32_t unit) const;  // the lanes that access the unit
  void read_units(const Event& event, uint32_t id, uint32_t lane, uint32_t first, uint32_t count);
  void write_units(const Event& event, uint32_t id, uint32_t lane, uint32_t first, uint32_t count, bool same);
  bool check_writer(const Event& event, uint32_t lane, uint32_t unit, bool writes);
  bool check_readers(const Event& event, uint32_t lane, uint32_t unit);
  void report_never_written(WatchKind kind, const Event& event, uint32_t lane, uint32_t unit);
  void report_race(WatchKind kind, const Event& event, uint32_t lane, const Event& earlier, uint32_t lanes,
                   uint32_t unit);

  const Program* program_ = nullptr;
  SharedOrder* order_ = nullptr;
  WatchLog* log_ = nullptr;
  uint32_t warps_ = 0, unit_ = 4, line_units_ = kWatchLine / 4, ops_ = 0;

  WatchShapes shapes_;
  std::vector<Last> last_;         // by warp and instruction
  uint32_t pattern_restarts_ = 0;  // the machine's, when last_ was written
  std::vector<Line> lines_;
  // By line: the last barrier of all warps since which the line has only been read, by too many to distinguish. Until
  // the next such barrier a further read is sound, and a write is checked by units.
  std::vector<uint32_t> quiet_;
  std::vector<Event> events_, copies_;  // copies outlive barriers
  size_t logged_ = 0;         // events_ from here on are not yet applied to the units of lines that are not exact
  size_t past_ = 0;           // events_ from here on belong to the current access
  uint32_t first_event_ = 1;  // number of events_[0]
  std::vector<std::vector<Group>> groups_;  // by warp; the last one is open

  // By unit. For lines that are not exact: up to events_[logged_], without copies and without what a barrier has
  // ordered.
  std::vector<uint32_t> written_, writer_;              // last time, and the event's number
  std::vector<uint32_t> read_;                          // last time, by any warp (note_stretch)
  std::vector<std::vector<uint32_t>> reads_, readers_;  // by warp: time since the last write, and the event's number
};

}  // namespace attnscope::emulator
