#include "ui/states_made.h"

#include <algorithm>

namespace attnscope::ui {

using session::Part;
using session::PartState;
using session::Snapshot;

void follow(Snapshot& snapshot) {
  session::Focus& focus = snapshot.focus;
  focus.wanted = focus.shown->experiment;
  focus.wanted_hash = hash_of(focus.wanted);
  std::fill_n(focus.part_hash, session::kParts, focus.wanted_hash);
}

Snapshot two_runs() { return snapshot_after({"m32_w4", "m32_w8"}); }

Snapshot without_runs() {
  Snapshot snapshot = snapshot_after({"m32_w4"});
  snapshot.history = {};
  session::Focus& focus = snapshot.focus;
  focus.shown = nullptr;
  focus.run = 0;
  std::fill_n(focus.parts, session::kParts, PartState::none);
  return snapshot;
}

Snapshot running(Snapshot snapshot, const char* stage, double progress, Part growing) {
  session::Focus& focus = snapshot.focus;
  focus.running = true;
  focus.stage = stage;
  focus.progress = progress;
  for (int part = 0; part < session::kParts; ++part) {
    if (focus.shown == nullptr) continue;
    focus.parts[part] = part < int(growing)    ? PartState::fresh
                        : part == int(growing) ? PartState::partial
                                               : PartState::kept;
    if (focus.parts[part] == PartState::kept) focus.part_from[part] = "NUM_WARPS=4";
  }
  return snapshot;
}

Finding finding(RuleId rule, Severity severity, const std::string& sentence) {
  Finding made;
  made.rule = rule;
  made.severity = severity;
  made.sentence = sentence;
  return made;
}

Finding race(const char* line) {
  Finding made = finding(RuleId::race_shared, Severity::error, "Two warps use one word of K_tile without order.");
  made.where = {{"file", "02_tiled.cu"}, {"line", line}, {"buffer", "K_tile"}, {"cta", "0"}};
  made.evidence = {{"accesses", 64, "", FigureKind::counted}};
  return made;
}

WatchReport report(std::vector<Finding> findings) {
  WatchReport made;
  made.ctas = 2;
  made.total_ctas = 128;
  made.fills = 2;
  made.orders = 3;
  made.findings = std::move(findings);
  return made;
}

Snapshot of_kernel(const std::function<void(Kernel&)>& change, Snapshot snapshot) {
  auto kernels = std::make_shared<std::vector<Kernel>>(*snapshot.kernels);
  for (Kernel& kernel : *kernels)
    if (kernel.id == "tiled") change(kernel);
  snapshot.kernels = kernels;
  return snapshot;
}

void measure(Observation& seen, CacheState cache, Stopped stopped) {
  Timing& timing = *seen.timing;
  const double us = timing.p50;
  timing.kind = FigureKind::measured;
  timing.cache = cache;
  timing.p10 = us * 0.97;
  timing.p90 = us * 1.08;
  timing.interval_low = us * 0.99;
  timing.interval_high = us * 1.02;
  timing.samples = 12;
  timing.clock_mhz = 1785;
  timing.terms.reset();
  Sampling& sampling = timing.sampling.emplace();
  for (int round = 0; round < 2; ++round) {
    std::vector<double>& samples = sampling.rounds.emplace_back();
    for (const double off : {-0.03, 0.0, 0.01, 0.02, 0.08, -0.01}) samples.push_back(us * (1 + off + 0.01 * round));
  }
  sampling.stopped = stopped;
  sampling.dropped = 3;
  sampling.power_w = 71;
  sampling.power_limit_w = 72;
  sampling.temperature_c = 63;
  sampling.reasons = {"power cap"};
  if (cache == CacheState::cold) sampling.empty_us = 2.5;
}

void make_program(Observation& seen) {
  LaunchFigures zero, first, second;
  zero.name = "memset sums";
  zero.timing = *seen.timing;
  zero.timing->p50 = zero.timing->p10 = zero.timing->p90 = 2;
  first.name = "row_max";
  first.variant = *seen.variant;
  first.occupancy = *seen.occupancy;
  first.timing = *seen.timing;
  first.timing->p50 = first.timing->p10 = first.timing->p90 = seen.timing->p50 * 0.3;
  first.counters = *seen.counters;
  second = first;
  second.name = "row_sum";
  second.timing->p50 = second.timing->p10 = second.timing->p90 = seen.timing->p50 * 0.7;
  second.counters->shared_bank_conflicts = 7;
  seen.launches = {zero, first, second};
}

}  // namespace attnscope::ui
