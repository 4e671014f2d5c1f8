#pragma once
// Shared by sm_simulation.cpp and steady_state.cpp: one SM that runs CTAs.
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "model/attribution.h"
#include "model/code_cache.h"
#include "model/issue.h"
#include "model/machine.h"
#include "model/simulated_warp.h"
#include "model/sm_simulation.h"
#include "model/turns.h"

namespace attnscope::model {

struct CtaSlot {
  size_t trace = 0;
  std::vector<size_t> warps;    // indices
  size_t alive = 0;             // number of live warps
  double ends = 0;              // when the last results of its ended warps arrive
  double began = 0;             // by Simulation::cta_clock()
  std::vector<size_t> waiting;  // warps at the CTA's barrier, in order of arrival
  double last_arrival = 0;      // when the barrier unit accepted the last of them
  // The CTAs that have begun and ended in this place: the trace, and the clocks for which each held the place.
  std::vector<std::pair<size_t, double>> whole;
};

// A queue that the SM's warps share.
struct Queue : HeldUnit {
  // Adds work and returns when it has passed.
  double add(double now, double clocks, uint32_t by_instruction) {
    until = std::max(now, until) + clocks;
    by = by_instruction;
    return until;
  }
};

class Simulation {
 public:
  Simulation(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load);

  SmRun run();

 private:
  // Simulates until that many warp instructions have been simulated, or all.
  void simulate(int64_t steps);

  // Adds what is still in a unit or a queue when the last CTA has ended.
  void drain();

  // The place is free; its next CTA starts at `time`.
  void start_cta(size_t slot, double free, double time);

  // Counts the instructions of every trace's warps, and of one run of each of their loops.
  void count_loops();

  // Finds the warp's next instruction and when the warp itself could issue it. Returns false if its trace is over.
  bool advance(size_t index, double now);

  void queue_next(size_t index, double now);

  void step(Turn turn);

  // When an instruction's result is ready and its operands have been read, with and without a queue; and the queue.
  struct Outcome {
    double done, read, unloaded, read_unloaded;
    TermKind done_queue = TermKind::other, read_queue = TermKind::other;
    float conflicts = 0;
  };

  void execute(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now);

  static void await(Awaited& awaited, const SimulatedWarp& warp, const ScheduledInstruction& instruction, double until,
                    double unloaded, TermKind queue, float conflicts);

  static void close_copies(SimulatedWarp& warp);

  // When the warp's last pass begins on the SM's data path.
  double pass(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now);

  // Sets the queue that delays the warp's last wavefront: its own, or that of all warps.
  void queue_as(const Awaited& port, Outcome& out) const;

  // Of a load's requests, those that go to the second level.
  double miss_share_of(const ScheduledInstruction& instruction) const;

  void access_global(SimulatedWarp& warp, const ScheduledInstruction& instruction, double now, Outcome& out);

  void arrive(size_t index, double now);

  void open_barrier(CtaSlot& cta);

  void finish_warp(size_t index, double time);

  int64_t executed() const { return result_.steps + passed_; }

  // --- What is left when the simulation ends early (extrapolation.cpp) ----------------------------------------------
  // Puts the CTAs of an SM with many more than can be simulated into an order in which the first ones, which will be
  // simulated, are of all lengths.
  void mix_ctas();

  // Whether so many CTAs for each place have begun and ended that they tell how long the others take, and enough of
  // these are left that it hardly counts how the last ones end.
  bool tell(size_t of_place) const;

  // Whether at its pace so far the simulation would reach the end at twice the limit at most.
  bool is_short() const;

  // Whether the CTAs that have ended tell enough to end the simulation before the limit.
  bool is_enough() const;

  // The rest takes as long as the CTAs that have ended tell; or, if these are few, as its instructions at the rate of
  // the simulated part.
  void extrapolate();
  double left_by_ctas() const;    // clocks
  int64_t left_to_issue() const;  // instructions

  // The time without waves that passed at once, which are no part of any simulated CTA.
  double cta_clock(double now) const { return now + skipped_ - waves_skipped_; }

  // --- What repeats -------------------------------------------------------------------------------------------------
  // A steady state is found by windows of the run: two in a row, in which the SM executes its instructions at the same
  // rate and the state at the end is that of the beginning: each warp is some runs further in its loop, or all places
  // have their next CTA. As many such windows as the loops have left then pass at once: their instructions, clocks and
  // stalls are added, while the warps, the units and the simulated clock stay as they are.

  // The state at the beginning of a window.
  struct Mark {
    double time = 0;  // includes skipped time
    int64_t instructions = 0;
    size_t started = 0;
    std::vector<std::pair<size_t, int64_t>> warps;  // loop and issued, for each warp
    double queued = 0;                              // clocks
    std::optional<Attribution::Sums> sums;          // set if the window may repeat
  };
  struct Window {
    std::optional<Mark> mark;
    int64_t events = 0;  // before it
    int runs = 0;        // of the watched warp, since the beginning
    int length = 2;      // in such runs; for waves, in CTAs of the first place
    int made = 0;        // windows since the last event
    double rate = 0;     // clocks per instruction in the previous window
  };
  static constexpr size_t kNoWarp = SIZE_MAX;
  // How unlike windows may be.
  struct Tolerance {
    double rates;  // by how much the rates of two in a row may differ
    double whole;  // for a window: how far a warp may be from whole runs, and by how much the queues may change
  };
  static constexpr Tolerance kSteady{.rates = 0.003, .whole = 0.04};
  // A loop of fewer runs ends before windows of two runs are found equal. In a lone last CTA its windows have one run,
  // which says little, so they must be the same but for rounding. (Beside or before other CTAs even this would change
  // the time, by up to 0.1 %.)
  static constexpr int64_t kFewRuns = 9;
  static constexpr Tolerance kSame{.rates = 1e-9, .whole = 1e-9};
  static constexpr int kLongestWindow = 32;  // runs
  static constexpr int kLongestWave = 8;     // CTAs in each place; after that, the last window counts as steady
  static constexpr size_t kWavesUntilPassed = 3 * kLongestWave;  // two windows of each length, one of the longest

  void begin(Window& window, double now, bool may_repeat);

  // Clocks of work in the queues.
  double queued(double now) const;

  // Instructions, and the clocks that they need of each queue; for requests that alternately hit and miss the first
  // level, the mean.
  struct Work {
    int64_t instructions = 0;
    double shuffle = 0, data = 0, l2 = 0, dram = 0, meeting = 0;

    void add(const Work& other, double times);
    double longest() const { return std::max({shuffle, data, l2, dram, meeting}); }
  };
  Work work_of(const ScheduledInstruction& instruction) const;

  // What a request, of which so many sectors are asked of the second level, takes of it.
  double l2_clocks(const ScheduledInstruction& instruction, double sectors) const {
    return instruction.turns > 0 ? double(instruction.turns) * turn_ : sectors * sector_;
  }

  // True if the window that ends now had the rate of the previous one, within `tolerance` of it.
  bool is_steady(Window& window, double now, const Tolerance& tolerance) const;

  // Skips `times` windows, each with this work. Each takes as long as the window that began at the mark; if a queue got
  // longer in that window, it takes as long as the queue's work, because a queue does not grow for ever.
  void pass_at_once(const Mark& mark, double now, int64_t times, const Work& work);

  // The last CTA of the SM runs, and no other.
  bool only_one_is_left() const;

  // Whether the windows of the loop have one run.
  bool is_exact() const { return loops_.length == 1; }
  const Tolerance& of_loops() const { return is_exact() ? kSame : kSteady; }

  // A warp begins the next run of a loop.
  void run_passed(size_t index, double now);

  // Runs of its loop that the warp made since the mark; 0 and false if they are not whole runs of one loop.
  std::pair<int64_t, bool> runs_of(size_t index) const;

  const Work& loop_work(size_t index) const;

  // Whether the window has whole runs of every warp, and how many more such windows are left.
  std::pair<bool, int64_t> runs_left() const;

  void repeat_runs(double now, int64_t times);

  // The first place takes its next CTA. If all CTAs are equal, a window lasts until it does so again.
  void wave_passed(double now);

  const Machine machine_;
  const KernelSchedule& schedule_;
  const SmLoad& load_;
  SmCtas ctas_;  // the load's
  SmRun result_;
  double miss_share_ = 1;
  std::vector<double> hits_;
  const PreparedCode prepared_;
  std::vector<SimulatedWarp> warps_;
  std::vector<CtaSlot> slots_;
  Turns<kSchedulers> turns_;
  std::array<IssuePorts, kSchedulers> ports_{};
  std::array<size_t, kSchedulers> issued_last_{kNoWarp, kNoWarp, kNoWarp, kNoWarp};  // the warp
  std::optional<Attribution> attribution_;                                           // if the load requests it
  float data_conflicts_ = 0;                                                         // share of the queue of wavefronts
  CodeCache code_cache_;
  // The last one: where atomics of global memory meet.
  Queue shuffle_queue_, data_queue_, l2_queue_, dram_queue_, meeting_queue_;
  double sector_ = 0;  // clocks of the SM's share of the second level
  double turn_ = 0;    // the same for a turn of an atomic
  double barrier_free_ = 0;
  double clock_ = 0;
  size_t started_ = 0;
  int64_t of_started_ = 0;  // instructions of the CTAs that started, without those that passed at once
  int64_t passed_ = 0;      // instructions that passed at once
  std::vector<std::vector<int64_t>> instructions_of_;      // by trace and warp
  std::vector<Work> work_of_;                              // by trace
  std::vector<std::vector<std::vector<Work>>> loop_work_;  // of one run; by trace, warp and loop
  bool equal_ = false;                                     // all CTAs are equal
  double skipped_ = 0;                                     // clocks that were skipped
  double waves_skipped_ = 0;                               // those of waves
  int64_t events_ = 0;                                     // number of warps and CTAs that began or ended
  size_t watched_ = kNoWarp;                               // the warp whose runs delimit windows
  Window loops_, waves_;
  std::vector<std::tuple<size_t, int64_t, int64_t>> skips_;
};

}  // namespace attnscope::model
