#include "model/sm_simulation.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "model/attribution.h"
#include "model/machine.h"
#include "model/simulated_warp.h"

namespace attnscope::model {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kOperandClocks = 8;  // until a store's operands have been read, on top of its time in the queue

// Reads that may hit the first level because other reads have fetched the same bytes.
bool may_hit_l1(const ScheduledInstruction& instruction) {
  return (instruction.unit == Unit::global_load || instruction.unit == Unit::async_copy) && !instruction.bypasses_l1;
}

Wait wait_for(Unit unit) {
  if (is_shared(unit)) return Wait::shared;
  return is_global(unit) ? Wait::global : Wait::other_data;
}

// A warp that waits at a barrier.
struct Arrival {
  size_t warp;  // index
  double time;
};

struct CtaSlot {
  std::vector<size_t> warps;     // indices
  size_t alive = 0;              // of them
  std::vector<Arrival> waiting;  // at the CTA's barrier, in order of arrival
  double last_arrival = 0;       // when the barrier unit took the last of them
};

// A scheduler's unit: until when an instruction holds it.
struct HeldUnit {
  double until = 0;
  uint32_t by = 0;
};

struct Turn {
  double time;
  size_t warp;
  bool operator>(const Turn& other) const { return time > other.time; }
};

// What an instruction costs and does on any issue, worked out once.
struct Prepared {
  double clocks;  // of a scheduler's unit
  bool waits;     // for data, or for room in the queue of wavefronts
  bool effects;   // that something waits for, or a use of what the SM's warps share

  Prepared(const Machine& machine, const ScheduledInstruction& instruction)
      : clocks(machine.unit_clocks[static_cast<size_t>(instruction.unit)]) {
    if (instruction.unit == Unit::tensor) clocks *= double(instruction.products);
    const bool memory = is_shared(instruction.unit) || is_global(instruction.unit);
    waits = instruction.wait_mask != 0 || instruction.copies_pending >= 0 || memory;
    effects = instruction.write_scoreboard < kScoreboards || instruction.read_scoreboard < kScoreboards ||
              instruction.closes_copies || memory || instruction.unit == Unit::shuffle;
  }
};

class Simulation {
 public:
  Simulation(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load)
      : machine_(spec), schedule_(schedule), load_(load), hits_(schedule.code.size()) {
    for (const ScheduledInstruction& instruction : schedule.code) prepared_.emplace_back(machine_, instruction);
    estimate_misses();
  }

  SmRun run() {
    const auto resident =
        static_cast<size_t>(std::max<int64_t>(1, std::min(load_.resident, int64_t(load_.ctas.size()))));
    slots_.resize(resident);
    if (load_.split) attribution_.emplace(schedule_.code, resident);
    for (size_t slot = 0; slot < resident; ++slot) start_cta(slot, 0, machine_.start * double(slot));
    while (!turns_.empty() && result_.instructions < load_.step_limit) {
      const Turn turn = turns_.top();
      turns_.pop();
      step(turn);
    }
    result_.simulated = result_.clocks;
    if (!turns_.empty()) extrapolate();
    if (attribution_) result_.stalls = attribution_->finish(result_.clocks, result_.complete);
    return result_;
  }

 private:
  // Requests beyond a CTA's distinct bytes are taken to hit the first level, so this share of every static load misses.
  // With a mask, the bytes are those of the CTA that sees every key, which reads most.
  void estimate_misses() {
    double most = 0;
    for (const CtaTrace& trace : schedule_.traces) {
      double sectors = 0;
      for (const auto& warp : trace.warps)
        for (const Visit& visit : warp)
          for (uint32_t i = 0; i < schedule_.blocks[visit.block].count; ++i) {
            const ScheduledInstruction& instruction = schedule_.code[schedule_.blocks[visit.block].first + i];
            if (may_hit_l1(instruction)) sectors += double(instruction.sectors);
          }
      most = std::max(most, sectors);
    }
    const double distinct = schedule_.global_bytes_per_cta / kSectorBytes;
    miss_share_ = distinct > 0 && most > 0 ? std::min(1.0, distinct / most) : 1;
  }

  // The place is free; its next CTA begins to run at `time`.
  void start_cta(size_t slot, double free, double time) {
    if (started_ >= load_.ctas.size()) {
      if (attribution_) attribution_->empty_place(free);
      return;
    }
    const CtaTrace& trace = schedule_.traces[load_.ctas[started_++]];
    CtaSlot& cta = slots_[slot];
    if (cta.warps.empty()) {
      for (size_t w = 0; w < trace.warps.size(); ++w) {
        cta.warps.push_back(warps_.size());
        warps_.emplace_back();
        warps_.back().scheduler = static_cast<int>((slot + w) % kSchedulers);
        warps_.back().cta = slot;
      }
    }
    cta.alive = trace.warps.size();
    for (size_t w = 0; w < trace.warps.size(); ++w) {
      SimulatedWarp& warp = warps_[cta.warps[w]];
      warp.trace = &trace.warps[w];
      warp.at = 0;
      warp.next = warp.last = 0;
      warp.stalled = 0;
      warp.held = warp.ready = time;
      warp.held_by = TermKind::launch;
      warp.port = {.until = time};
      warp.scoreboard.fill({});
      warp.open_copies = {};
      warp.copies.clear();
      if (attribution_) attribution_->enter(free, warp);
      remaining_ += count_instructions(trace.warps[w]);
      queue_next(cta.warps[w], time);
    }
  }

  int64_t count_instructions(const std::vector<Visit>& trace) const {
    int64_t count = 0;
    for (const Visit& visit : trace) count += schedule_.blocks[visit.block].count;
    return count;
  }

  // Finds the warp's next instruction and when the warp itself could issue it; false when its trace is over.
  bool advance(SimulatedWarp& warp) {
    while (warp.next == warp.last) {
      if (warp.at == warp.trace->size()) return false;
      const Visit& visit = (*warp.trace)[warp.at++];
      const CodeBlock& block = schedule_.blocks[visit.block];
      warp.lanes = visit.lanes;
      if (warp.at > 1 && block.first != warp.last)
        warp.ready += machine_.branch;  // the last block ended in a taken jump
      warp.next = block.first;
      warp.last = block.first + block.count;
    }
    return true;
  }

  void queue_next(size_t index, double now) {
    SimulatedWarp& warp = warps_[index];
    if (!advance(warp)) {
      finish_warp(index, now, std::max(now, warp.ready));
      return;
    }
    note(Wait::dependency, warp.ready - now - 1);
    warp.complete = warp.ready;
    if (prepared_[warp.next].waits)
      warp.complete = data_ready(warp, schedule_.code[warp.next], [&](const Awaited& awaited, double since) {
        note(wait_for(awaited.unit), awaited.until - since);
      });
    turns_.push({warp.complete, index});
  }

  void note(Wait wait, double clocks) {
    if (clocks > 0) result_.waits[static_cast<size_t>(wait)] += clocks;
  }

  void step(const Turn& turn) {
    SimulatedWarp& warp = warps_[turn.warp];
    const ScheduledInstruction& instruction = schedule_.code[warp.next];
    const auto scheduler = static_cast<size_t>(warp.scheduler);
    const auto unit = static_cast<size_t>(instruction.unit);
    HeldUnit& held = units_[scheduler][unit];
    const double free = std::max(issue_free_[scheduler], held.until);
    if (free > turn.time) {
      note(issue_free_[scheduler] >= held.until ? Wait::issue : Wait::unit, free - turn.time);
      turns_.push({free, turn.warp});
      return;
    }
    const double now = turn.time;
    if (attribution_) attribution_->issue(warp, instruction, now, held.by);
    issue_free_[scheduler] = now + 1;
    const Prepared prepared = prepared_[warp.next];
    const double clocks = prepared.clocks;
    held = {now + clocks, warp.next};
    result_.busy[unit] += clocks / kSchedulers;
    ++result_.instructions;
    --remaining_;
    clock_ = now + 1;  // turns come in order of time
    warp.previous = warp.next;
    warp.stalled = warp.ready = now + std::max<double>(1, instruction.stall);
    ++warp.next;
    if (instruction.unit == Unit::barrier) {
      arrive(turn.warp, now);
      return;
    }
    if (prepared.effects) execute(warp, instruction, now);
    queue_next(turn.warp, now);
  }

  // When an instruction's result is there and its operands have been read, and without a queue; and the queue.
  struct Outcome {
    double done, read, unloaded, read_unloaded;
    TermKind done_queue = TermKind::other, read_queue = TermKind::other;
    float conflicts = 0;
  };

  void execute(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now) {
    Outcome out{now, now + kOperandClocks, now, now + kOperandClocks};
    switch (instruction.unit) {
      case Unit::shared_load:
      case Unit::shared_store: {
        const double passes = passes_of(warp, instruction);
        const double passed = pass(warp, instruction, now, passes);
        result_.busy[static_cast<size_t>(instruction.unit)] += passes * machine_.wavefront;
        out.done = passed + machine_.shared;
        out.unloaded = now + machine_.shared;
        out.read = passed + kOperandClocks;
        queue_as(warp.port, out);
        break;
      }
      case Unit::global_load:
      case Unit::local_load:
      case Unit::global_store:
      case Unit::local_store:
        access_global(warp, instruction, now, out);
        break;
      case Unit::async_copy:
        access_global(warp, instruction, now, out);
        out.done += machine_.shared;  // and then into shared memory
        out.unloaded += machine_.shared;
        if (out.done > warp.open_copies.until)
          await(warp.open_copies, warp, instruction, out.done, out.unloaded, out.done_queue, out.conflicts);
        break;
      case Unit::mufu:
      case Unit::conversion:
        out.done = out.unloaded = now + machine_.mufu;
        break;
      case Unit::shuffle: {
        const double start = std::max(now, shuffle_free_);
        shuffle_free_ = start + machine_.shuffle_clocks;
        out.done = start + machine_.shuffle;
        out.unloaded = now + machine_.shuffle;
        out.read = start + kOperandClocks;
        out.done_queue = out.read_queue = TermKind::shuffles;
        break;
      }
      case Unit::constant_load:
        out.done = out.unloaded = now + machine_.constant;
        break;
      case Unit::fp32:
      case Unit::fp16x2:
      case Unit::half_to_float:
      case Unit::fp64:
      case Unit::integer:
      case Unit::imad:
      case Unit::tensor:
      case Unit::uniform:
      case Unit::barrier:
      case Unit::control:
      case Unit::count:
        // A scoreboard on one of these: as slow as the variable-latency units.
        out.done = out.unloaded = now + machine_.mufu;
        break;
    }
    if (instruction.closes_copies) close_copies(warp);
    const auto occupy = [&](uint8_t scoreboard, double until, double unloaded, TermKind queue) {
      if (scoreboard < kScoreboards && until > warp.scoreboard[scoreboard].until)
        await(warp.scoreboard[scoreboard], warp, instruction, until, unloaded, queue, out.conflicts);
    };
    occupy(instruction.write_scoreboard, out.done, out.unloaded, out.done_queue);
    occupy(instruction.read_scoreboard, out.read, out.read_unloaded, out.read_queue);
  }

  static void await(Awaited& awaited, const SimulatedWarp& warp, const ScheduledInstruction& instruction, double until,
                    double unloaded, TermKind queue, float conflicts) {
    awaited.until = until;
    awaited.unloaded = unloaded;
    awaited.conflicts = queue == TermKind::shared_wavefronts || queue == TermKind::l1_lines ? conflicts : 0;
    awaited.producer = warp.previous;
    awaited.unit = instruction.unit;
    awaited.queue = queue;
  }

  static void close_copies(SimulatedWarp& warp) {
    constexpr size_t most_pending = 8;  // code waits for all but a few groups, so older ones have arrived
    warp.copies.push_back(std::exchange(warp.open_copies, {}));
    if (warp.copies.size() > most_pending) warp.copies.pop_front();
  }

  // A warp with more active lanes than the mean has more bank conflicts.
  static double passes_of(const SimulatedWarp& warp, const ScheduledInstruction& instruction) {
    return std::max(1.0, double(instruction.passes) * warp.lanes / double(instruction.lanes));
  }

  // When the warp's last pass begins on the SM's data path.
  double pass(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now, double passes) {
    const float conflicts = instruction.passes > 0 ? instruction.conflicts / instruction.passes : 0;
    const auto queue = [&](double& until, double clocks, float& share) {
      const auto before = static_cast<float>(std::max(0.0, until - now)), own = static_cast<float>(clocks);
      until = std::max(now, until) + clocks;
      if (share != conflicts) share = (before * share + own * conflicts) / (before + own);
    };
    Awaited& port = warp.port;
    queue(port.until, passes * machine_.warp_wavefront, port.conflicts);
    queue(data_free_, passes * machine_.wavefront, data_conflicts_);
    port.producer = warp.previous;
    port.queue = is_shared(instruction.unit) ? TermKind::shared_wavefronts : TermKind::l1_lines;
    return std::max(port.until - machine_.warp_wavefront, data_free_ - machine_.wavefront);
  }

  // The queue that lets the warp's last wavefront pass later: its own, or all warps'.
  void queue_as(const Awaited& port, Outcome& out) const {
    const bool own = port.until - machine_.warp_wavefront >= data_free_ - machine_.wavefront;
    out.done_queue = out.read_queue = port.queue;
    out.conflicts = own ? port.conflicts : data_conflicts_;
  }

  void access_global(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now, Outcome& out) {
    const double passed = pass(warp, instruction, now, passes_of(warp, instruction));
    out.read = passed + kOperandClocks;
    queue_as(warp.port, out);
    const auto arrives = [&](double clocks, double queued) {
      out.done = queued + clocks;
      out.unloaded = now + clocks;
    };
    if (may_hit_l1(instruction)) {
      double& hits = hits_[warp.previous];
      hits += miss_share_;
      if (hits < 1 - 1e-9) return arrives(machine_.l1, passed);  // ten tenths sum to a little less than one
      hits -= 1;
    } else if (instruction.unit == Unit::local_load) {
      return arrives(machine_.l1, passed);  // a thread's stack stays in the first level
    }
    l2_free_ = std::max(now, l2_free_) + double(instruction.sectors) * machine_.sector;
    result_.l2_busy += double(instruction.sectors) * machine_.sector;
    arrives(machine_.l2, std::max(passed, l2_free_));
    if (l2_free_ > passed) out.done_queue = TermKind::l2_bandwidth;
  }

  void arrive(size_t index, double now) {
    CtaSlot& cta = slots_[warps_[index].cta];
    const double at = std::max(now, barrier_free_);
    barrier_free_ = at + machine_.arrival;
    cta.waiting.push_back({index, now});
    cta.last_arrival = at;
    open_barrier(cta);
  }

  void open_barrier(CtaSlot& cta) {
    if (cta.waiting.empty() || cta.waiting.size() < cta.alive) return;
    const double open = cta.last_arrival + machine_.barrier;
    const std::vector<Arrival> freed = std::exchange(cta.waiting, {});
    for (const Arrival& arrival : freed) note(Wait::barrier, open - arrival.time);
    for (const Arrival& arrival : freed) {
      SimulatedWarp& warp = warps_[arrival.warp];
      warp.held = warp.ready = std::max(warp.ready, open);
      warp.held_by = TermKind::barriers;
      queue_next(arrival.warp, open);
    }
  }

  void finish_warp(size_t index, double now, double time) {
    SimulatedWarp& warp = warps_[index];
    CtaSlot& cta = slots_[warp.cta];
    --cta.alive;
    const Awaited* last = nullptr;
    for (const Awaited& result : warp.scoreboard)
      if (result.until > time) time = result.until, last = &result;
    if (cta.alive > 0) {
      if (attribution_) attribution_->leave(std::max(now, std::min(warp.stalled, now + 1)), warp, nullptr);
      open_barrier(cta);  // the waiting warps need not wait for this one
      return;
    }
    if (attribution_) attribution_->leave(time, warp, last);
    result_.clocks = std::max(result_.clocks, time);
    start_cta(warp.cta, time, time + machine_.start);
  }

  // The rest runs at the rate of what was simulated.
  void extrapolate() {
    result_.complete = false;
    int64_t rest = remaining_;
    for (size_t j = started_; j < load_.ctas.size(); ++j)
      for (const auto& warp : schedule_.traces[load_.ctas[j]].warps) rest += count_instructions(warp);
    const double share = double(result_.instructions) / double(result_.instructions + rest);
    result_.simulated = clock_;
    result_.clocks = clock_ / share;
  }

  const Machine machine_;
  const KernelSchedule& schedule_;
  const SmLoad& load_;
  SmRun result_;
  double miss_share_ = 1;
  std::vector<double> hits_;
  std::vector<Prepared> prepared_;  // by instruction
  std::vector<SimulatedWarp> warps_;
  std::vector<CtaSlot> slots_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::array<double, kSchedulers> issue_free_{};
  std::array<std::array<HeldUnit, static_cast<size_t>(Unit::count)>, kSchedulers> units_{};
  std::optional<Attribution> attribution_;  // where the load asks for it
  float data_conflicts_ = 0;                // share of the queue of wavefronts
  double shuffle_free_ = 0, data_free_ = 0, l2_free_ = 0, barrier_free_ = 0;
  double clock_ = 0;
  size_t started_ = 0;
  int64_t remaining_ = 0;
};

}  // namespace

SmRun simulate_sm(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load) {
  if (schedule.traces.empty() || schedule.traces.front().warps.empty() || load.ctas.empty()) return {};
  return Simulation(spec, schedule, load).run();
}

}  // namespace attnscope::model
