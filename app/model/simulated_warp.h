#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/term.h"
#include "model/schedule.h"

namespace attnscope::model {

inline constexpr int kScoreboards = 6;
inline constexpr double kQueueClocks = 64;  // work that a warp may queue for the memory unit before it stalls

inline bool is_shared(Unit unit) { return unit == Unit::shared_load || unit == Unit::shared_store; }
inline bool is_global(Unit unit) {
  return unit == Unit::global_load || unit == Unit::global_store || unit == Unit::local_load ||
         unit == Unit::local_store || unit == Unit::async_copy;
}

// Something that a warp may wait for: the result of an instruction, or that its operands have been read.
struct Awaited {
  double until = 0;
  double unloaded = 0;    // when it would be ready if it had met no queue
  float conflicts = 0;    // the share of the queue of wavefronts that is bank conflicts
  uint32_t producer = 0;  // the instruction
  Unit unit = Unit::control;
  TermKind queue = TermKind::other;  // what it queues for
};

// What keeps an instruction that is otherwise ready from issuing: the one that holds its unit, or that still reads from
// the bank of its registers.
struct Holder {
  double until = 0;
  uint32_t by = 0;
  bool banks = false;
};

// A warp and its position in its trace.
struct SimulatedWarp {
  const std::vector<Visit>* trace = nullptr;
  const std::vector<Folded::Loop>* loops = nullptr;
  bool alive = false;           // its CTA runs and it has not ended
  size_t at = 0;                // in the trace
  size_t loop = 0;              // the current or next loop
  int64_t iteration = 0;        // of that loop
  int64_t issued = 0;           // instructions, including those of runs that were not simulated
  uint32_t next = 0, last = 0;  // instructions of the current block: [next, last)
  uint32_t lanes = 32;          // lanes that execute it
  size_t line = SIZE_MAX;       // code line of its next instruction
  int scheduler = 0;
  size_t cta = 0;         // slot
  size_t of_cta = 0;      // its index in the CTA
  uint32_t previous = 0;  // the instruction that it issued last
  // What holds it before any data does, in this order: until `stalled`, its last instruction's stall count; until
  // `held`, if that is later, a barrier or the start of its CTA; until `ready`, a jump; until `fetched`, the
  // instruction caches.
  double stalled = 0, held = 0, ready = 0, fetched = 0;
  TermKind held_by = TermKind::launch;
  double complete = 0;  // when its next instruction has everything but its unit and an issue slot
  Awaited port;         // when its last wavefront has passed
  Awaited room;         // when there is room for another request to the second level
  std::array<Awaited, kScoreboards> scoreboard{};
  Awaited open_copies;         // when the asynchronous copies since the last group arrive
  std::deque<Awaited> copies;  // when each group arrives, oldest first
};

// When all groups of copies but the last `copies_pending` have arrived; null if the instruction waits for none.
inline const Awaited* copies_there(const SimulatedWarp& warp, const ScheduledInstruction& instruction) {
  if (instruction.copies_pending < 0) return nullptr;
  const auto pending = static_cast<size_t>(instruction.copies_pending);
  const Awaited* there = nullptr;
  for (size_t group = 0; group + pending < warp.copies.size(); ++group)
    if (there == nullptr || warp.copies[group].until > there->until) there = &warp.copies[group];
  return there;
}

// SimulatedWarp::complete. Calls wait(awaited, since) for each wait on the way, in order of time; a wait ends at
// awaited.until.
template <class Wait>
double data_ready(const SimulatedWarp& warp, const ScheduledInstruction& instruction, Wait wait) {
  double time = std::max(warp.ready, warp.fetched);
  const auto until = [&](const Awaited& awaited) {
    if (awaited.until <= time) return;
    wait(awaited, time);
    time = awaited.until;
  };
  for (unsigned left = instruction.wait_mask & ((1U << kScoreboards) - 1); left != 0; left &= left - 1)
    until(warp.scoreboard[static_cast<size_t>(std::countr_zero(left))]);
  if (const Awaited* there = copies_there(warp, instruction)) until(*there);
  if ((is_shared(instruction.unit) || is_global(instruction.unit)) && warp.port.until - kQueueClocks > time) {
    Awaited room = warp.port;
    room.until = warp.port.until - kQueueClocks;
    room.unloaded = 0;
    room.unit = instruction.unit;
    until(room);
  }
  if (is_global(instruction.unit)) until(warp.room);
  return time;
}

}  // namespace attnscope::model
