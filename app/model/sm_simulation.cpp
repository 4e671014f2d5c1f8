#include "model/sm_simulation.h"

#include <algorithm>
#include <utility>

#include "model/misses.h"
#include "model/simulation.h"
#include "model/warp_recorder.h"

namespace attnscope::model {
namespace {

constexpr double kOperandClocks = 8;  // until a store's operands have been read, in addition to its time in the queue

}  // namespace

Simulation::Simulation(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load)
    : machine_(spec),
      schedule_(schedule),
      load_(load),
      ctas_(load.ctas),
      prepared_(machine_, schedule.code),
      code_cache_(spec, schedule) {
  // The first access finds nothing in the first level.
  miss_share_ = miss_share(schedule);
  const int64_t readers = load.readers > 0 ? std::min(load.readers, spec.sms) : spec.sms;
  sector_ = machine_.sector_of(readers);
  turn_ = machine_.turn_of(readers);
  for (const ScheduledInstruction& instruction : schedule.code)
    hits_.push_back(may_hit_l1(instruction) ? 1 - miss_share_ : 0);
  count_loops();
}

SmRun Simulation::run() {
  const auto resident = static_cast<size_t>(std::max<int64_t>(1, std::min(load_.resident, int64_t(ctas_.size()))));
  slots_.resize(resident);
  equal_ = std::ranges::adjacent_find(ctas_, std::not_equal_to<>()) == ctas_.end();
  if (load_.repeat && !equal_) mix_ctas();
  if (load_.split) attribution_.emplace(schedule_.code, resident);
  for (size_t slot = 0; slot < resident; ++slot) start_cta(slot, 0, machine_.start * double(slot));
  simulate(std::min(load_.enough_steps, load_.step_limit));
  if (!is_enough()) simulate(load_.step_limit);
  result_.simulated = result_.clocks;
  result_.clocks += skipped_;
  result_.instructions = executed();
  if (!turns_.empty()) extrapolate();
  if (attribution_) result_.stalls = attribution_->finish(result_.clocks, result_.complete);
  if (result_.complete) drain();
  return result_;
}

void Simulation::simulate(int64_t steps) {
  while (result_.steps < steps) {
    const Turn turn = turns_.first();
    if (turn.is_none()) break;
    step(turn);
  }
}

void Simulation::drain() {
  Stall last;
  const auto see = [&](double end, TermKind term, uint32_t producer) {
    if (const double rest = end - result_.simulated; rest > last.time) last = {term, producer, producer, rest};
  };
  for (size_t scheduler = 0; scheduler < kSchedulers; ++scheduler)
    for (const HeldUnit& held : ports_[scheduler].pipes())
      see(held.until, pipe_term(schedule_.code[held.by].unit), held.by);
  see(shuffle_queue_.until, TermKind::shuffles, shuffle_queue_.by);
  see(data_queue_.until, TermKind::shared_wavefronts, data_queue_.by);
  see(l2_queue_.until, TermKind::l2_bandwidth, l2_queue_.by);
  see(dram_queue_.until, TermKind::dram_bandwidth, dram_queue_.by);
  see(meeting_queue_.until, TermKind::atomics, meeting_queue_.by);
  if (last.time <= 0) return;
  if (attribution_) result_.stalls.push_back(last);
  result_.clocks += last.time;
  result_.simulated += last.time;
}

void Simulation::start_cta(size_t slot, double free, double time) {
  if (started_ >= ctas_.size()) {
    if (attribution_) attribution_->empty_place(free);
    return;
  }
  if (slot == 0 && started_ > 0) wave_passed(free);
  ++events_;
  if (load_.recorder != nullptr) load_.recorder->begin_cta(started_, slot, free);
  const CtaTrace& trace = schedule_.traces[ctas_[started_++]];
  CtaSlot& cta = slots_[slot];
  cta.trace = ctas_[started_ - 1];
  cta.began = cta_clock(free);
  if (cta.warps.empty()) {
    for (size_t w = 0; w < trace.warps.size(); ++w) {
      cta.warps.push_back(warps_.size());
      warps_.emplace_back();
      warps_.back().scheduler = static_cast<int>(scheduler_of(slot, trace.warps.size(), w));
      warps_.back().cta = slot;
      warps_.back().of_cta = w;
      turns_.add(cta.warps.back(), static_cast<size_t>(warps_.back().scheduler));
    }
  }
  cta.alive = trace.warps.size();
  cta.ends = 0;
  for (size_t w = 0; w < trace.warps.size(); ++w) {
    SimulatedWarp& warp = warps_[cta.warps[w]];
    warp.trace = &trace.warps[w];
    warp.loops = &trace.loops_of(w);
    warp.alive = true;
    warp.at = warp.loop = 0;
    warp.iteration = warp.issued = 0;
    warp.next = warp.last = 0;
    warp.stalled = 0;
    warp.held = warp.ready = time;
    warp.held_by = TermKind::launch;
    warp.port = {.until = time};
    warp.line = SIZE_MAX;
    warp.fetched = 0;
    warp.scoreboard.fill({});
    warp.open_copies = warp.room = {};
    warp.copies.clear();
    if (attribution_) attribution_->enter(free, warp);
    if (load_.recorder != nullptr) load_.recorder->begin_warp(cta.warps[w], warp, free);
    of_started_ += instructions_of_[ctas_[started_ - 1]][w];
    queue_next(cta.warps[w], time);
  }
}

bool Simulation::advance(size_t index, double now) {
  SimulatedWarp& warp = warps_[index];
  while (warp.next == warp.last) {
    if (warp.loop < warp.loops->size()) {
      const Folded::Loop& loop = (*warp.loops)[warp.loop];
      if (warp.at == loop.first + loop.length) {
        if (++warp.iteration < loop.times) {
          warp.at = loop.first;
          run_passed(index, now);
        } else {
          ++warp.loop;
          warp.iteration = 0;
          watched_ = kNoWarp;
          continue;
        }
      }
    }
    if (warp.at == warp.trace->size()) return false;
    const Visit& visit = (*warp.trace)[warp.at++];
    const CodeBlock& block = schedule_.blocks[visit.block];
    warp.lanes = visit.lanes;
    if (warp.issued > 0 && block.first != warp.last)
      warp.ready += machine_.branch;  // the last block ended in a taken jump
    warp.next = block.first;
    warp.last = block.first + block.count;
  }
  return true;
}

void Simulation::queue_next(size_t index, double now) {
  SimulatedWarp& warp = warps_[index];
  if (warp.next == warp.last && !advance(index, now)) {
    turns_.take(index);
    finish_warp(index, std::max(now, warp.ready));
    return;
  }
  if (const size_t line = CodeCache::line_of(warp.next); line != warp.line) {
    warp.fetched = code_cache_.fetch(static_cast<size_t>(warp.scheduler), warp.line, line, now, warp.ready);
    warp.line = line;
  }
  warp.complete = std::max(warp.ready, warp.fetched);
  if (prepared_[warp.next].waits)
    warp.complete = data_ready(warp, schedule_.code[warp.next], [](const Awaited&, double) {});
  turns_.give(index, warp.complete);
}

void Simulation::step(Turn turn) {
  SimulatedWarp& warp = warps_[turn.warp];
  const ScheduledInstruction& instruction = schedule_.code[warp.next];
  const auto scheduler = static_cast<size_t>(warp.scheduler);
  const Prepared& prepared = prepared_[warp.next];
  const bool behind_own = (issued_last_[scheduler] == turn.warp) & (warp.previous + 1 == warp.next);
  const BankReads& reads = prepared_.reads(prepared, behind_own);
  IssuePorts& ports = ports_[scheduler];
  if (const double free = ports.held_until(prepared, reads); free > turn.time) {
    turns_.give(turn.warp, free);
    return;
  }
  const double now = turn.time;
  if (attribution_) attribution_->issue(warp, now, [&] { return ports.holder(prepared, reads); });
  if (load_.recorder != nullptr) load_.recorder->issue(turn.warp, warp, instruction, now);
  turns_.scheduler_free(scheduler, ports.hold(prepared, reads, warp.next, now, machine_.mma_banks));
  issued_last_[scheduler] = turn.warp;
  ++result_.steps;
  ++warp.issued;
  clock_ = now + 1;  // turns come in order of time
  warp.previous = warp.next;
  warp.stalled = warp.ready = now + prepared.stall;
  ++warp.next;
  if (prepared.barrier) {
    turns_.take(turn.warp);
    arrive(turn.warp, now);
    return;
  }
  if (prepared.effects) execute(warp, instruction, now);
  queue_next(turn.warp, now);
}

void Simulation::execute(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now) {
  Outcome out{now, now + kOperandClocks, now, now + kOperandClocks};
  switch (instruction.unit) {
    case Unit::shared_load:
    case Unit::shared_store: {
      const double passed = pass(warp, instruction, now);
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
      const double start = shuffle_queue_.add(now, machine_.shuffle_clocks, warp.previous) - machine_.shuffle_clocks;
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
      // A scoreboard on one of these counts as slow as the variable-latency units.
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

void Simulation::await(Awaited& awaited, const SimulatedWarp& warp, const ScheduledInstruction& instruction,
                       double until, double unloaded, TermKind queue, float conflicts) {
  awaited.until = until;
  awaited.unloaded = unloaded;
  awaited.conflicts = queue == TermKind::shared_wavefronts || queue == TermKind::l1_lines ? conflicts : 0;
  awaited.producer = warp.previous;
  awaited.unit = instruction.unit;
  awaited.queue = queue;
}

void Simulation::close_copies(SimulatedWarp& warp) {
  constexpr size_t most_pending = 8;  // code waits for all but a few groups, so older ones have arrived
  warp.copies.push_back(std::exchange(warp.open_copies, {}));
  if (warp.copies.size() > most_pending) warp.copies.pop_front();
}

double Simulation::pass(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now) {
  const Prepared& prepared = prepared_[warp.previous];
  const double passes = warp.lanes == 32 ? prepared.passes : Prepared::passes_of(instruction, warp.lanes);
  const float conflicts = prepared.conflicts;
  const auto mix = [&](double until, double clocks, float& share) {
    const auto before = static_cast<float>(std::max(0.0, until - now)), own = static_cast<float>(clocks);
    if (share != conflicts) share = (before * share + own * conflicts) / (before + own);
  };
  Awaited& port = warp.port;
  const double own_clocks = passes * machine_.warp_wavefront, clocks = machine_.access_clocks(passes);
  mix(port.until, own_clocks, port.conflicts);
  mix(data_queue_.until, clocks, data_conflicts_);
  port.until = std::max(now, port.until) + own_clocks;
  data_queue_.add(now, clocks, warp.previous);
  port.producer = warp.previous;
  port.queue = !is_shared(instruction.unit) ? TermKind::l1_lines
               : instruction.turns > 0      ? TermKind::atomics
                                            : TermKind::shared_wavefronts;
  return std::max(port.until - machine_.warp_wavefront, data_queue_.until - machine_.wavefront);
}

void Simulation::queue_as(const Awaited& port, Outcome& out) const {
  const bool own = port.until - machine_.warp_wavefront >= data_queue_.until - machine_.wavefront;
  out.done_queue = out.read_queue = port.queue;
  out.conflicts = own ? port.conflicts : data_conflicts_;
}

double Simulation::miss_share_of(const ScheduledInstruction& instruction) const {
  if (instruction.unit != Unit::local_load) return may_hit_l1(instruction) ? miss_share_ : 1;
  return load_.local_misses.empty() ? 0 : load_.local_misses[static_cast<size_t>(&instruction - schedule_.code.data())];
}

void Simulation::access_global(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now, Outcome& out) {
  const double passed = pass(warp, instruction, now);
  out.read = passed + kOperandClocks;
  queue_as(warp.port, out);
  double queued = passed;
  const auto arrives = [&](double clocks, double from) {
    out.done = from + clocks;
    out.unloaded = now + clocks;
  };
  const bool local = instruction.unit == Unit::local_load;
  const auto sectors = double(instruction.sectors);
  if (may_hit_l1(instruction) || local) {
    double& hits = hits_[warp.previous];
    hits += miss_share_of(instruction);
    if (hits < 1 - 1e-9) return arrives(machine_.l1, passed);  // ten tenths sum to a little less than one
    hits -= 1;
  }
  const auto queue = [&](Queue& in, double clocks, TermKind term) {
    const double until = in.add(now, clocks, warp.previous);
    if (until > queued) queued = until, out.done_queue = term;
  };
  queue(l2_queue_, l2_clocks(instruction, sectors), TermKind::l2_bandwidth);
  // CTAs that share data mostly read it side by side, so all of them wait for memory.
  const bool from_memory = load_.dram_sector > 0 && !local;
  const double latency = from_memory ? machine_.dram : machine_.l2;
  if (from_memory) queue(dram_queue_, sectors * load_.dram_sector, TermKind::dram_bandwidth);
  if (instruction.turns > 0) queue(meeting_queue_, double(instruction.turns) * load_.atomic_turn, TermKind::atomics);
  arrives(latency, queued);
  // As much may queue as is in flight without a queue; beyond that the warp has no room for another request.
  if (queued > passed && queued - latency > warp.room.until)
    await(warp.room, warp, instruction, queued - latency, 0, out.done_queue, 0);
}

void Simulation::arrive(size_t index, double now) {
  CtaSlot& cta = slots_[warps_[index].cta];
  const double at = std::max(now, barrier_free_);
  barrier_free_ = at + machine_.arrival;
  cta.waiting.push_back(index);
  cta.last_arrival = at;
  open_barrier(cta);
}

void Simulation::open_barrier(CtaSlot& cta) {
  if (cta.waiting.empty() || cta.waiting.size() < cta.alive) return;
  const double open = cta.last_arrival + machine_.barrier;
  const std::vector<size_t> freed = std::exchange(cta.waiting, {});
  for (const size_t arrived : freed) {
    SimulatedWarp& warp = warps_[arrived];
    warp.held = warp.ready = std::max(warp.ready, open);
    warp.held_by = TermKind::barriers;
    queue_next(arrived, open);
  }
}

void Simulation::finish_warp(size_t index, double time) {
  SimulatedWarp& warp = warps_[index];
  CtaSlot& cta = slots_[warp.cta];
  --cta.alive;
  warp.alive = false;
  ++events_;
  const Awaited* last = nullptr;
  const double done = time;
  for (const Awaited& result : warp.scoreboard)
    if (result.until > time) time = result.until, last = &result;
  cta.ends = std::max(cta.ends, time);
  if (attribution_) attribution_->leave(time, warp, last);
  if (load_.recorder != nullptr) load_.recorder->end_warp(index, done, last, time);
  if (cta.alive > 0) {
    open_barrier(cta);  // the waiting warps need not wait for this one
    return;
  }
  time = cta.ends;
  cta.whole.emplace_back(cta.trace, cta_clock(time) - cta.began);
  if (load_.recorder != nullptr) load_.recorder->end_cta(warp.cta, time);
  result_.clocks = std::max(result_.clocks, time);
  start_cta(warp.cta, time, time + machine_.start);
}

SmRun simulate_sm(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load) {
  if (schedule.traces.empty() || schedule.traces.front().warps.empty() || load.ctas.empty()) return {};
  return Simulation(spec, schedule, load).run();
}

}  // namespace attnscope::model
