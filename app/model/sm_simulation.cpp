#include "model/sm_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <utility>

#include "model/rates.h"

namespace attnscope::model {
namespace {

constexpr int kSchedulers = 4;
constexpr int kScoreboards = 6;
constexpr double kSectorBytes = 32;
constexpr double kOperandClocks = 8;  // until a store's operands have been read, on top of its time in the queue
constexpr double kQueueClocks = 64;   // work that a warp may queue for the memory unit before it stalls

bool is_shared(Unit unit) { return unit == Unit::shared_load || unit == Unit::shared_store; }
bool is_global(Unit unit) {
  return unit == Unit::global_load || unit == Unit::global_store || unit == Unit::local_load ||
         unit == Unit::local_store || unit == Unit::async_copy;
}

// Reads that may hit the first level because other reads have fetched the same bytes.
bool may_hit_l1(const ScheduledInstruction& instruction) {
  return (instruction.unit == Unit::global_load || instruction.unit == Unit::async_copy) && !instruction.bypasses_l1;
}

Wait wait_for(Unit unit) {
  if (is_shared(unit)) return Wait::shared;
  return is_global(unit) ? Wait::global : Wait::other_data;
}

// The device's figures, looked up once.
struct Machine {
  // Clocks for which a warp instruction holds a scheduler's unit.
  std::array<double, static_cast<size_t>(Unit::count)> unit_clocks{};
  double shuffle_clocks, wavefront, warp_wavefront, sector;  // clocks each, of the SM
  double shared, l1, l2, mufu, shuffle, constant, barrier, arrival, branch, start;

  explicit Machine(const DeviceSpec& spec) {
    using namespace rates;
    const auto clocks = [&](const Rate& which) { return 32.0 * kSchedulers / rate(spec, which); };
    const auto set = [&](Unit unit, const Rate& which) { unit_clocks[static_cast<size_t>(unit)] = clocks(which); };
    set(Unit::fp32, kFp32);
    set(Unit::fp16x2, kFp16x2);
    set(Unit::half_to_float, kHalfToFloat);
    set(Unit::fp64, kFp64);
    set(Unit::integer, kInt);
    set(Unit::imad, kImad);
    set(Unit::mufu, kMufu);
    set(Unit::conversion, kConversion);
    set(Unit::uniform, kUniform);
    unit_clocks[static_cast<size_t>(Unit::tensor)] = tensor_clocks(spec);
    shuffle_clocks = 32 / rate(spec, kShuffle);
    wavefront = 1 / rate(spec, kSharedWavefronts);
    warp_wavefront = 1 / rate(spec, kWarpWavefronts);
    sector = 1 / rate(spec, kL2Sectors);
    shared = rate(spec, kLatencyShared);
    l1 = rate(spec, kLatencyL1);
    l2 = rate(spec, kLatencyL2);
    mufu = rate(spec, kLatencyMufu);
    shuffle = rate(spec, kLatencyShuffle);
    constant = rate(spec, kLatencyConstant);
    barrier = rate(spec, kLatencyBarrier);
    arrival = rate(spec, kBarrierArrival);
    branch = rate(spec, kLatencyBranch);
    start = rate(spec, kCtaStartClocks);
  }
  // Clocks of one product on one scheduler's Tensor Core.
  static double tensor_clocks(const DeviceSpec& spec) {
    if (const auto measured = spec.rates.find(rates::kMma16816); measured != spec.rates.end()) return measured->second;
    if (spec.tensor_tflops_f16 <= 0) return 32;
    const double flop = spec.tensor_tflops_f16 * 1e12 / (double(spec.sms) * kSchedulers * spec.clock_mhz * 1e6);
    return kProductFlop / std::max(1.0, flop);
  }
};

struct SimulatedWarp {
  const std::vector<Visit>* trace = nullptr;
  size_t at = 0;                // in the trace
  uint32_t next = 0, last = 0;  // instructions of the current block: [next, last)
  uint32_t lanes = 32;          // that execute it
  int scheduler = 0;
  size_t cta = 0;    // slot
  double ready = 0;  // by stall counts and branches
  double port = 0;   // when its last wavefront has passed
  std::array<double, kScoreboards> scoreboard{};
  std::array<Unit, kScoreboards> holder{};
  double open_copies = 0;     // when the asynchronous copies since the last group arrive
  std::deque<double> copies;  // when each group arrives, oldest first
};

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

struct Turn {
  double time;
  size_t warp;
  bool operator>(const Turn& other) const { return time > other.time; }
};

class Simulation {
 public:
  Simulation(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load)
      : machine_(spec), schedule_(schedule), load_(load), hits_(schedule.code.size()) {
    estimate_misses();
  }

  SmRun run() {
    const auto resident =
        static_cast<size_t>(std::max<int64_t>(1, std::min(load_.resident, int64_t(load_.ctas.size()))));
    slots_.resize(resident);
    for (size_t slot = 0; slot < resident; ++slot) start_cta(slot, machine_.start * double(slot));
    while (!turns_.empty() && result_.instructions < load_.step_limit) {
      const Turn turn = turns_.top();
      turns_.pop();
      step(turn);
    }
    result_.simulated = result_.clocks;
    if (!turns_.empty()) extrapolate();
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

  void start_cta(size_t slot, double time) {
    if (started_ >= load_.ctas.size()) return;
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
      warp.ready = time;
      warp.port = time;
      warp.scoreboard.fill(0);
      warp.open_copies = 0;
      warp.copies.clear();
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
      finish_warp(index, std::max(now, warp.ready));
      return;
    }
    const ScheduledInstruction& instruction = schedule_.code[warp.next];
    double time = warp.ready;
    note(Wait::dependency, warp.ready - now - 1);
    for (int sb = 0; sb < kScoreboards; ++sb) {
      const auto s = static_cast<size_t>(sb);
      if ((instruction.wait_mask >> sb & 1) == 0 || warp.scoreboard[s] <= time) continue;
      note(wait_for(warp.holder[s]), warp.scoreboard[s] - time);
      time = warp.scoreboard[s];
    }
    if (const double there = copies_there(warp, instruction); there > time) {
      note(Wait::global, there - time);
      time = there;
    }
    if ((is_shared(instruction.unit) || is_global(instruction.unit)) && warp.port - kQueueClocks > time) {
      note(wait_for(instruction.unit), warp.port - kQueueClocks - time);
      time = warp.port - kQueueClocks;
    }
    turns_.push({time, index});
  }

  // When all groups of copies but the last `copies_pending` have arrived.
  static double copies_there(const SimulatedWarp& warp, const ScheduledInstruction& instruction) {
    if (instruction.copies_pending < 0) return 0;
    const auto pending = static_cast<size_t>(instruction.copies_pending);
    double there = 0;
    for (size_t group = 0; group + pending < warp.copies.size(); ++group) there = std::max(there, warp.copies[group]);
    return there;
  }

  void note(Wait wait, double clocks) {
    if (clocks > 0) result_.waits[static_cast<size_t>(wait)] += clocks;
  }

  void step(const Turn& turn) {
    SimulatedWarp& warp = warps_[turn.warp];
    const ScheduledInstruction& instruction = schedule_.code[warp.next];
    const auto scheduler = static_cast<size_t>(warp.scheduler);
    const auto unit = static_cast<size_t>(instruction.unit);
    const double free = std::max(issue_free_[scheduler], unit_free_[scheduler][unit]);
    if (free > turn.time) {
      note(issue_free_[scheduler] >= unit_free_[scheduler][unit] ? Wait::issue : Wait::unit, free - turn.time);
      turns_.push({free, turn.warp});
      return;
    }
    const double now = turn.time;
    issue_free_[scheduler] = now + 1;
    const double clocks = instruction.unit == Unit::tensor ? machine_.unit_clocks[unit] * double(instruction.products)
                                                           : machine_.unit_clocks[unit];
    unit_free_[scheduler][unit] = now + clocks;
    result_.busy[unit] += clocks / kSchedulers;
    ++result_.instructions;
    --remaining_;
    clock_ = std::max(clock_, now + 1);
    warp.ready = now + std::max<double>(1, instruction.stall);
    ++warp.next;
    if (instruction.unit == Unit::barrier) {
      arrive(turn.warp, now);
      return;
    }
    execute(warp, instruction, now);
    queue_next(turn.warp, now);
  }

  void execute(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now) {
    double done = now, read = now + kOperandClocks;
    switch (instruction.unit) {
      case Unit::shared_load:
      case Unit::shared_store: {
        const double passes = passes_of(warp, instruction);
        const double passed = pass(warp, now, passes);
        result_.busy[static_cast<size_t>(instruction.unit)] += passes * machine_.wavefront;
        done = passed + machine_.shared;
        read = passed + kOperandClocks;
        break;
      }
      case Unit::global_load:
      case Unit::local_load:
      case Unit::global_store:
      case Unit::local_store:
        done = access_global(warp, instruction, now, read);
        break;
      case Unit::async_copy:
        done = access_global(warp, instruction, now, read) + machine_.shared;  // and then into shared memory
        warp.open_copies = std::max(warp.open_copies, done);
        break;
      case Unit::mufu:
      case Unit::conversion:
        done = now + machine_.mufu;
        break;
      case Unit::shuffle: {
        const double start = std::max(now, shuffle_free_);
        shuffle_free_ = start + machine_.shuffle_clocks;
        done = start + machine_.shuffle;
        read = start + kOperandClocks;
        break;
      }
      case Unit::constant_load:
        done = now + machine_.constant;
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
        done = now + machine_.mufu;  // a scoreboard on one of these: as slow as the variable-latency units
        break;
    }
    if (instruction.closes_copies) close_copies(warp);
    occupy_scoreboard(warp, instruction.write_scoreboard, done, instruction.unit);
    occupy_scoreboard(warp, instruction.read_scoreboard, read, instruction.unit);
  }

  static void close_copies(SimulatedWarp& warp) {
    constexpr size_t most_pending = 8;  // code waits for all but a few groups, so older ones have arrived
    warp.copies.push_back(std::exchange(warp.open_copies, 0));
    if (warp.copies.size() > most_pending) warp.copies.pop_front();
  }

  // A warp with more active lanes than the mean has more bank conflicts.
  static double passes_of(const SimulatedWarp& warp, const ScheduledInstruction& instruction) {
    return std::max(1.0, double(instruction.passes) * warp.lanes / double(instruction.lanes));
  }

  static void occupy_scoreboard(SimulatedWarp& warp, uint8_t scoreboard, double until, Unit unit) {
    if (scoreboard >= kScoreboards || until <= warp.scoreboard[scoreboard]) return;
    warp.scoreboard[scoreboard] = until;
    warp.holder[scoreboard] = unit;
  }

  // When the warp's last pass begins on the SM's data path.
  double pass(SimulatedWarp& warp, double now, double passes) {
    warp.port = std::max(now, warp.port) + passes * machine_.warp_wavefront;
    data_free_ = std::max(now, data_free_) + passes * machine_.wavefront;
    return std::max(warp.port - machine_.warp_wavefront, data_free_ - machine_.wavefront);
  }

  double access_global(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now, double& read) {
    const double passed = pass(warp, now, passes_of(warp, instruction));
    read = passed + kOperandClocks;
    const auto index = static_cast<size_t>(&instruction - schedule_.code.data());
    if (may_hit_l1(instruction)) {
      hits_[index] += miss_share_;
      if (hits_[index] < 1 - 1e-9) return passed + machine_.l1;  // ten tenths sum to a little less than one
      hits_[index] -= 1;
    } else if (instruction.unit == Unit::local_load) {
      return passed + machine_.l1;  // a thread's stack stays in the first level
    }
    l2_free_ = std::max(now, l2_free_) + double(instruction.sectors) * machine_.sector;
    result_.l2_busy += double(instruction.sectors) * machine_.sector;
    return std::max(passed, l2_free_) + machine_.l2;
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
      warp.ready = std::max(warp.ready, open);
      queue_next(arrival.warp, open);
    }
  }

  void finish_warp(size_t index, double time) {
    SimulatedWarp& warp = warps_[index];
    CtaSlot& cta = slots_[warp.cta];
    --cta.alive;
    for (double release : warp.scoreboard) time = std::max(time, release);
    if (cta.alive > 0) {
      open_barrier(cta);  // the waiting warps need not wait for this one
      return;
    }
    result_.clocks = std::max(result_.clocks, time);
    start_cta(warp.cta, time + machine_.start);
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
  std::vector<SimulatedWarp> warps_;
  std::vector<CtaSlot> slots_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::array<double, kSchedulers> issue_free_{};
  std::array<std::array<double, static_cast<size_t>(Unit::count)>, kSchedulers> unit_free_{};
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
