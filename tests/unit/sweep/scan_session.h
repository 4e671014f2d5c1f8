#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/deaf_session.h"

namespace attnscope::sweep {

// A session that only scans, and takes no time: every requested config has ended at the next look, unless `holds` keeps
// some running. The test provides the runs.
class ScanSession : public testing_support::DeafSession {
 public:
  struct Asked {
    session::ScanRequest request;
    std::vector<Config> ran;  // those that no known run answers
  };
  std::function<Observation(const Experiment& experiment, bool watched)> answer;
  std::string kernel_hash = "hash";
  std::optional<Failure> refusal;
  size_t holds = SIZE_MAX;  // this many points end; the others wait for the scan's end
  std::function<void()> on_end = nullptr;
  std::vector<Asked> asked;

  void scan(session::ScanRequest request) override {
    Scan made;
    made.id = request.id;
    static_cast<Draft&>(made.held) = request.draft;
    made.held.kernel_hash = kernel_hash;
    made.failure = refusal;
    Asked& now = asked.emplace_back(Asked{request, {}});
    const bool watched = request.watch == session::Watch::always;
    for (const Config& config : request.configs) {
      if (refusal) break;
      ScanPoint& point = made.points.emplace_back();
      point.config = config;
      point.value.label = "K=" + std::to_string(config.knobs.at("K"));
      Experiment experiment = made.held;
      experiment.config = config;
      const std::string hash = hash_of(experiment);
      for (const auto& known : request.known)
        if (known->hash == hash && (!watched || known->watch)) point.observation = known;
      if (point.observation != nullptr || made.points.size() > holds) continue;
      now.ran.push_back(config);
      auto run = std::make_shared<Observation>(answer(experiment, watched));
      run->experiment = std::move(experiment);
      run->hash = hash;
      point.observation = std::move(run);
    }
    publish(std::move(made));
  }
  void end_scan(uint64_t id) override {
    Scan ended = *now_->scans.back();
    if (ended.id != id) return;
    ended.ended_early = true;
    publish(std::move(ended));
    if (on_end) on_end();
  }
  session::Shared<session::Snapshot> snapshot() const override { return now_; }
  // Runs what `holds` kept back from the last request.
  void release() {
    holds = SIZE_MAX;
    scan(session::ScanRequest(asked.back().request));
  }

  // The values of K that were run, request by request.
  std::vector<std::vector<int64_t>> ran() const {
    std::vector<std::vector<int64_t>> all;
    for (const Asked& one : asked) {
      auto& values = all.emplace_back();
      for (const Config& config : one.ran) values.push_back(config.knobs.at("K"));
    }
    return all;
  }

 private:
  void publish(Scan scan) {
    auto next = std::make_shared<session::Snapshot>();
    next->version = now_->version + 1;
    next->scans = {session::share(std::move(scan))};
    now_ = std::move(next);
  }
  session::Shared<session::Snapshot> now_ = session::share<session::Snapshot>();
};

// A measured time of a correct output on an H200.
inline Observation measured(double us) {
  Observation run;
  run.device = "cuda:0";
  run.versions = {"1.0", "13.0", "580", "H200"};
  Timing& timing = run.timing.emplace();
  timing.kind = FigureKind::measured;
  timing.p50 = us;
  timing.interval_low = us * 0.99;
  timing.interval_high = us * 1.01;
  run.verdict.emplace().state = VerdictState::correct;
  return run;
}

// The kernel k, whose only knob K has the values 1 to 4.
inline Kernel kernel_of_k() {
  Kernel kernel;
  kernel.id = "k";
  kernel.content_hash = "hash";
  kernel.knobs = {{"K", {{1, ""}, {2, ""}, {3, ""}, {4, ""}}, 1, ""}};
  return kernel;
}

inline Config config_of(int64_t k) {
  Config config;
  config.knobs["K"] = k;
  return config;
}

}  // namespace attnscope::sweep
