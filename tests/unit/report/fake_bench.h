// A benchmark whose runs a made-up device answers.
#pragma once
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "report/bench_run.h"

namespace attnscope::report {

inline BenchPlan plan_of(bool emulated, std::vector<std::pair<std::string, bool>> entries, size_t rows = 1) {
  BenchPlan plan;
  plan.head.device = emulated ? "emulated:l4" : "cuda:0";
  plan.head.device_name = "NVIDIA L4";
  plan.head.arch = 89;
  plan.head.emulated = emulated;
  plan.head.versions.app = "0.1.0";
  for (const auto& [label, peer] : entries)
    plan.head.entries.push_back({label, label, "hash", peer, plan.head.device, ""});
  for (size_t r = 0; r < rows; ++r) {
    Row& row = plan.head.rows.emplace_back();
    row.problem.batch = static_cast<int64_t>(r) + 1;
    row.cells.resize(entries.size());
  }
  return plan;
}

// A device whose clock drifts: every run is slower than the previous one.
struct FakeDevice {
  explicit FakeDevice(std::vector<double> times, bool is_emulated = false)
      : us(std::move(times)), emulated(is_emulated) {}
  std::vector<double> us;  // per entry
  bool emulated = false;
  std::vector<std::pair<size_t, size_t>> asked;
  double drift = 0.002;
  std::map<size_t, Failure> refuses;
  std::map<size_t, size_t> fails_at;  // entry → its first run that fails
  std::mt19937 random{7};

  Observation run(size_t row, size_t entry) {
    asked.emplace_back(row, entry);
    Observation o;
    o.experiment.config.knobs = {{"BLOCK_M", 16}};
    if (refuses.contains(entry)) {
      o.failure = refuses[entry];
      return o;
    }
    const auto runs = std::count(asked.begin(), asked.end(), std::pair(row, entry));
    if (fails_at.contains(entry) && static_cast<size_t>(runs) >= fails_at[entry]) {
      o.failure = Failure{Stage::crash, "it crashed", ""};
      return o;
    }
    const double at = us[entry] * (1 + drift * static_cast<double>(asked.size()));
    Timing& timing = o.timing.emplace();
    timing.kind = emulated ? FigureKind::modelled : FigureKind::measured;
    timing.p10 = timing.p50 = timing.p90 = at;
    o.verdict.emplace().state = VerdictState::correct;
    if (!emulated) {
      Sampling& sampling = timing.sampling.emplace();
      for (int round = 0; round < 3; ++round)
        for (auto& us_of_round = sampling.rounds.emplace_back(); us_of_round.size() < 8;)
          us_of_round.push_back(at * (1 + 1e-4 * (double(random() % 2001) - 1000) / 1000));
    }
    return o;
  }

  BenchCalls calls(std::vector<BenchState>* saved = nullptr) {
    BenchCalls calls;
    calls.run = [this](size_t row, size_t entry) { return run(row, entry); };
    calls.save = [saved](const BenchState& state) {
      if (saved) saved->push_back(state);
    };
    calls.on_progress = [](const BenchProgress&) {};
    calls.now_seconds = [this] { return double(asked.size()); };
    calls.config_text = [](size_t, const auto&) { return std::string("BLOCK_M=16"); };
    return calls;
  }
};

}  // namespace attnscope::report
