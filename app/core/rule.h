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

// What a finding is about. People are shown findings by group.
enum class FindingGroup {
  correctness,
  launch,
  memory,
  warps,
  arithmetic,
  code,
  figures,  // how the run's figures are to be read
  other     // findings of a rule that this version does not know
};
template <>
struct Words<FindingGroup> {
  using enum FindingGroup;
  static constexpr WordTable<FindingGroup, 8> table{{{correctness, "correctness"},
                                                     {launch, "launch and occupancy"},
                                                     {memory, "memory"},
                                                     {warps, "warps and waits"},
                                                     {arithmetic, "arithmetic"},
                                                     {code, "code and knobs"},
                                                     {figures, "figures"},
                                                     {other, "other"}}};
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
  limits_exceeded,
  lone_warps,
  idle_threads,
  barrier_wait,
  barrier_needless,
  bank_conflicts,
  shared_queue,
  global_scattered,
  global_repeated,
  global_narrow,
  atomics_meet,
  local_spill,
  local_stack,
  local_recursion,
  latency_exposed,
  occupancy_low,
  occupancy_misleading,
  grid_tail,
  grid_small,
  launch_most,
  mufu_bound,
  tensor_unused,
  double_used,
  integer_division,
  error_half,
  knob_unused,
  helper_unused,
  bound_roof,
  phase_most,
  code_identical,
  times_unlike,
  times_tie,
  call_argument,
  metric_absent,
  samples_taken,
  samples_line,
  samples_refused
};
struct RuleRow {
  RuleId id;
  std::string_view name;  // the name in files; the part before the dot is its family
  FindingGroup group;     // the same for a whole family
  Headline headline;      // the headline of an error of this rule
  std::string_view says;  // shown before the place; for luck rules, what was varied
};
inline constexpr RuleRow kRules[] = {
    {RuleId::barrier_uneven, "barrier.uneven", FindingGroup::correctness, Headline::uneven_barrier, "Uneven barrier"},
    {RuleId::race_shared, "race.shared", FindingGroup::correctness, Headline::race, "Race"},
    {RuleId::race_warp, "race.warp", FindingGroup::correctness, Headline::race, "Race within a warp"},
    {RuleId::race_copy, "race.copy", FindingGroup::correctness, Headline::race, "Copy not awaited"},
    {RuleId::race_global, "race.global", FindingGroup::correctness, Headline::race, "Race"},
    {RuleId::race_grid, "race.grid", FindingGroup::correctness, Headline::race, "Race between CTAs"},
    {RuleId::never_written_shared, "never_written.shared", FindingGroup::correctness, Headline::never_written,
     "Read before it is written"},
    {RuleId::never_written_local, "never_written.local", FindingGroup::correctness, Headline::never_written,
     "Read before it is written"},
    {RuleId::never_written_global, "never_written.global", FindingGroup::correctness, Headline::never_written,
     "Read before it is written"},
    {RuleId::output_unwritten, "output.unwritten", FindingGroup::correctness, Headline::never_written, "Never written"},
    {RuleId::shuffle_absent, "shuffle.absent", FindingGroup::correctness, Headline::absent_lane,
     "Shuffle from an absent lane"},
    {RuleId::luck_fill, "luck.fill", FindingGroup::correctness, Headline::luck, "fills of shared memory"},
    {RuleId::luck_order, "luck.order", FindingGroup::correctness, Headline::luck, "warp orders"},
    // Rules that explain a time, an error or a refusal never make the headline. Findings without a gain keep this
    // order.
    {RuleId::limits_exceeded, "limits.exceeded", FindingGroup::launch, Headline::fault, "It does not fit"},
    {RuleId::lone_warps, "warps.lone", FindingGroup::warps, Headline::fault, "Others wait for few warps"},
    {RuleId::idle_threads, "threads.idle", FindingGroup::warps, Headline::fault, "Idle threads"},
    {RuleId::barrier_wait, "wait.barrier", FindingGroup::warps, Headline::fault, "Waiting at barriers"},
    {RuleId::barrier_needless, "wait.needless", FindingGroup::warps, Headline::fault, "A barrier that can go"},
    {RuleId::bank_conflicts, "banks.conflicts", FindingGroup::memory, Headline::fault, "Bank conflicts"},
    {RuleId::shared_queue, "shared.queue", FindingGroup::memory, Headline::fault, "Queueing for shared memory"},
    {RuleId::global_scattered, "global.scattered", FindingGroup::memory, Headline::fault, "Scattered global accesses"},
    {RuleId::global_repeated, "global.repeated", FindingGroup::memory, Headline::fault, "The same bytes loaded again"},
    {RuleId::global_narrow, "global.narrow", FindingGroup::memory, Headline::fault, "Narrow global accesses"},
    {RuleId::atomics_meet, "atomics.meet", FindingGroup::memory, Headline::fault, "Atomics at one address"},
    {RuleId::local_spill, "local.spill", FindingGroup::memory, Headline::fault, "Spilled registers"},
    {RuleId::local_stack, "local.stack", FindingGroup::memory, Headline::fault, "An array in local memory"},
    {RuleId::local_recursion, "local.recursion", FindingGroup::memory, Headline::fault, "A function that calls itself"},
    {RuleId::latency_exposed, "latency.exposed", FindingGroup::warps, Headline::fault, "Exposed latency"},
    {RuleId::occupancy_low, "occupancy.low", FindingGroup::launch, Headline::fault, "Low occupancy"},
    {RuleId::occupancy_misleading, "occupancy.misleading", FindingGroup::launch, Headline::fault,
     "Occupancy is not the limit"},
    {RuleId::grid_tail, "grid.tail", FindingGroup::launch, Headline::fault, "A tail of the grid"},
    {RuleId::grid_small, "grid.small", FindingGroup::launch, Headline::fault, "Too few CTAs"},
    {RuleId::launch_most, "launch.most", FindingGroup::launch, Headline::fault, "Mostly the launch"},
    {RuleId::mufu_bound, "mufu.bound", FindingGroup::arithmetic, Headline::fault, "MUFU is the limit"},
    {RuleId::tensor_unused, "tensor.unused", FindingGroup::arithmetic, Headline::fault, "Tensor Cores are idle"},
    {RuleId::double_used, "double.used", FindingGroup::arithmetic, Headline::fault, "Double arithmetic"},
    {RuleId::integer_division, "integer.division", FindingGroup::arithmetic, Headline::fault, "Division of integers"},
    {RuleId::error_half, "error.half", FindingGroup::correctness, Headline::fault, "Error of half accumulation"},
    {RuleId::knob_unused, "knob.unused", FindingGroup::code, Headline::fault, "A knob without effect"},
    {RuleId::helper_unused, "helper.unused", FindingGroup::code, Headline::fault, "A function that nothing calls"},
    {RuleId::bound_roof, "bound.roof", FindingGroup::figures, Headline::fault, "What it is bound by"},
    {RuleId::phase_most, "phase.most", FindingGroup::figures, Headline::fault, "Where the time goes"},
    {RuleId::code_identical, "code.identical", FindingGroup::code, Headline::fault, "The same machine code"},
    {RuleId::times_unlike, "times.unlike", FindingGroup::figures, Headline::fault, "Times that cannot be compared"},
    {RuleId::times_tie, "times.tie", FindingGroup::figures, Headline::fault, "Times that cannot be told apart"},
    {RuleId::call_argument, "call.argument", FindingGroup::correctness, Headline::fault, "An illegal argument"},
    {RuleId::metric_absent, "metric.absent", FindingGroup::figures, Headline::fault, "A metric that was not collected"},
    {RuleId::samples_taken, "samples.taken", FindingGroup::figures, Headline::fault, "Samples of program counters"},
    {RuleId::samples_line, "samples.line", FindingGroup::figures, Headline::fault, "Where the GPU's warps are"},
    {RuleId::samples_refused, "samples.refused", FindingGroup::figures, Headline::fault,
     "No samples of program counters"}};

// A finding's rule. A rule that only the worker knows keeps its name and gets its family's headline.
class Rule {
 public:
  Rule(RuleId id = RuleId::unknown);
  static Rule named(std::string name);

  RuleId id() const { return id_; }
  const std::string& name() const { return name_; }
  Headline headline() const;
  FindingGroup group() const;     // its family's; other: a family that this version does not know
  std::string_view says() const;  // empty: unknown
  bool operator==(const Rule&) const = default;

 private:
  RuleId id_;
  std::string name_;
};

}  // namespace attnscope
