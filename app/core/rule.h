#pragma once
#include <string>
#include <string_view>

#include "core/words.h"

namespace attnscope {

// The outcome of a run in one word. The window, the terminal, the history and compare tables all show it, and the exit
// status follows from it. An error of the watch precedes the verdict, because a correct output of a racy kernel is
// luck.
enum class Headline {
  correct,
  agrees,  // with another kernel, which may itself be wrong
  wrong,
  unchecked,
  uneven_barrier,  // not every warp of the CTA arrives at it; races follow from it
  race,            // two unordered accesses to one word, at least one of them a write
  never_written,   // a read of memory that was never written
  absent_lane,     // a shuffle reads from a lane that does not participate
  luck,            // another order of the warps or other contents of shared memory change the verdict
  fault            // a watch's error by a rule that this version does not know
};
template <>
struct Words<Headline> {
  using enum Headline;
  static constexpr WordTable<Headline, 10> table{{{correct, "correct"},
                                                  {agrees, "agrees"},
                                                  {wrong, "wrong"},
                                                  {unchecked, "unchecked"},
                                                  {uneven_barrier, "uneven barrier"},
                                                  {race, "race"},
                                                  {never_written, "never-written read"},
                                                  {absent_lane, "absent lane"},
                                                  {luck, "right by luck"},
                                                  {fault, "fault"}}};
};

// The rules of docs/emulator.md (Watches), those of docs/explaining.md, then those of docs/measuring.md (Where its
// warps are).
enum class RuleId {
  unknown,
  barrier_uneven,
  race_shared,
  race_warp,
  race_copy,
  race_global,
  race_grid,
  never_written_shared,
  never_written_local,
  never_written_global,
  output_unwritten,
  shuffle_absent,
  luck_fill,
  luck_order,
  idle_threads,
  lone_warps,
  barrier_wait,
  barrier_needless,
  bank_conflicts,
  shared_queue,
  global_scattered,
  global_repeated,
  global_narrow,
  local_spill,
  local_stack,
  local_recursion,
  latency_exposed,
  occupancy_low,
  occupancy_misleading,
  grid_tail,
  grid_small,
  launch_most,
  bound_roof,
  phase_most,
  mufu_bound,
  tensor_unused,
  double_used,
  integer_division,
  error_half,
  knob_unused,
  helper_unused,
  code_identical,
  times_unlike,
  times_tie,
  limits_exceeded,
  call_argument,
  metric_absent,
  samples_taken,
  samples_line,
  samples_refused
};
struct RuleRow {
  RuleId id;
  std::string_view name;  // the name in files; the part before the dot is its family
  Headline headline;      // the headline of an error of this rule
  std::string_view says;  // shown before the place; for luck rules, what was varied
};
inline constexpr RuleRow kRules[] = {
    {RuleId::barrier_uneven, "barrier.uneven", Headline::uneven_barrier, "Uneven barrier"},
    {RuleId::race_shared, "race.shared", Headline::race, "Race"},
    {RuleId::race_warp, "race.warp", Headline::race, "Race within a warp"},
    {RuleId::race_copy, "race.copy", Headline::race, "Copy not awaited"},
    {RuleId::race_global, "race.global", Headline::race, "Race"},
    {RuleId::race_grid, "race.grid", Headline::race, "Race between CTAs"},
    {RuleId::never_written_shared, "never_written.shared", Headline::never_written, "Read before it is written"},
    {RuleId::never_written_local, "never_written.local", Headline::never_written, "Read before it is written"},
    {RuleId::never_written_global, "never_written.global", Headline::never_written, "Read before it is written"},
    {RuleId::output_unwritten, "output.unwritten", Headline::never_written, "Never written"},
    {RuleId::shuffle_absent, "shuffle.absent", Headline::absent_lane, "Shuffle from an absent lane"},
    {RuleId::luck_fill, "luck.fill", Headline::luck, "fills of shared memory"},
    {RuleId::luck_order, "luck.order", Headline::luck, "warp orders"},
    // Rules that explain a time, an error or a refusal never make the headline.
    {RuleId::idle_threads, "threads.idle", Headline::fault, "Idle threads"},
    {RuleId::lone_warps, "warps.lone", Headline::fault, "Few warps do a phase's work"},
    {RuleId::barrier_wait, "wait.barrier", Headline::fault, "Waiting at barriers"},
    {RuleId::barrier_needless, "wait.needless", Headline::fault, "A barrier that can go"},
    {RuleId::bank_conflicts, "banks.conflicts", Headline::fault, "Bank conflicts"},
    {RuleId::shared_queue, "shared.queue", Headline::fault, "Queueing for shared memory"},
    {RuleId::global_scattered, "global.scattered", Headline::fault, "Scattered global accesses"},
    {RuleId::global_repeated, "global.repeated", Headline::fault, "The same bytes loaded again"},
    {RuleId::global_narrow, "global.narrow", Headline::fault, "Narrow global accesses"},
    {RuleId::local_spill, "local.spill", Headline::fault, "Spilled registers"},
    {RuleId::local_stack, "local.stack", Headline::fault, "An array in local memory"},
    {RuleId::local_recursion, "local.recursion", Headline::fault, "A function that calls itself"},
    {RuleId::latency_exposed, "latency.exposed", Headline::fault, "Exposed latency"},
    {RuleId::occupancy_low, "occupancy.low", Headline::fault, "Low occupancy"},
    {RuleId::occupancy_misleading, "occupancy.misleading", Headline::fault, "Occupancy is not the limit"},
    {RuleId::grid_tail, "grid.tail", Headline::fault, "A tail of the grid"},
    {RuleId::grid_small, "grid.small", Headline::fault, "Too few CTAs"},
    {RuleId::launch_most, "launch.most", Headline::fault, "Mostly the launch"},
    {RuleId::bound_roof, "bound.roof", Headline::fault, "What it is bound by"},
    {RuleId::phase_most, "phase.most", Headline::fault, "Where the time goes"},
    {RuleId::mufu_bound, "mufu.bound", Headline::fault, "MUFU is the limit"},
    {RuleId::tensor_unused, "tensor.unused", Headline::fault, "Tensor Cores are idle"},
    {RuleId::double_used, "double.used", Headline::fault, "Double arithmetic"},
    {RuleId::integer_division, "integer.division", Headline::fault, "Division of integers"},
    {RuleId::error_half, "error.half", Headline::fault, "Error of half accumulation"},
    {RuleId::knob_unused, "knob.unused", Headline::fault, "A knob without effect"},
    {RuleId::helper_unused, "helper.unused", Headline::fault, "A function that nothing calls"},
    {RuleId::code_identical, "code.identical", Headline::fault, "The same machine code"},
    {RuleId::times_unlike, "times.unlike", Headline::fault, "Times that cannot be compared"},
    {RuleId::times_tie, "times.tie", Headline::fault, "Times that cannot be told apart"},
    {RuleId::limits_exceeded, "limits.exceeded", Headline::fault, "It does not fit"},
    {RuleId::call_argument, "call.argument", Headline::fault, "An illegal argument"},
    {RuleId::metric_absent, "metric.absent", Headline::fault, "A metric that was not collected"},
    {RuleId::samples_taken, "samples.taken", Headline::fault, "Samples of program counters"},
    {RuleId::samples_line, "samples.line", Headline::fault, "Where the GPU's warps are"},
    {RuleId::samples_refused, "samples.refused", Headline::fault, "No samples of program counters"}};

// A finding's rule. A rule that only the worker knows keeps its name and gets its family's headline.
class Rule {
 public:
  Rule(RuleId id = RuleId::unknown);
  static Rule named(std::string name);

  RuleId id() const { return id_; }
  const std::string& name() const { return name_; }
  Headline headline() const;
  std::string_view says() const;  // empty: unknown
  bool operator==(const Rule&) const = default;

 private:
  RuleId id_;
  std::string name_;
};

}  // namespace attnscope
