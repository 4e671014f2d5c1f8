#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace attnscope::sweep {

// A session that only scans, in no time: every config that is asked for has ended at the next look, unless `holds`
// leaves some under way. The runs are the test's.
class ScanSession : public session::Session {
 public:
  struct Asked {
    session::ScanRequest request;
    std::vector<Config> ran;  // those that no known run answered
  };
  std::function<Observation(const Experiment& experiment, bool watched)> answer;
  std::string kernel_hash = "hash";
  std::optional<Failure> refusal;
  size_t holds = SIZE_MAX;  // so many points end; the others wait for the scan's end
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

  // The values of K that were run, ask by ask.
  std::vector<std::vector<int64_t>> ran() const {
    std::vector<std::vector<int64_t>> all;
    for (const Asked& one : asked) {
      auto& values = all.emplace_back();
      for (const Config& config : one.ran) values.push_back(config.knobs.at("K"));
    }
    return all;
  }

  void request_view(ViewRequest) override {}
  void request_code(Experiment, std::optional<int64_t>) override {}
  void request_softmax(Experiment, SoftmaxRow) override {}
  void request_timeline(Experiment, TimelineAsk) override {}
  void annotate(std::string, store::RunNote) override {}
  void focus(Draft, session::Gesture) override {}
  void rerun() override {}
  void cancel() override {}
  void watch() override {}
  void undo() override {}
  void redo() override {}
  void select_history(uint64_t) override {}
  std::future<Observation> queue(Draft, session::Watch) override { return {}; }
  void load_preset(std::filesystem::path) override {}
  void save_preset(std::filesystem::path, std::string, Json) override {}
  void describe_preset(std::filesystem::path, std::string, std::string) override {}
  void delete_preset(std::filesystem::path) override {}
  void reload_kernels() override {}
  void copy_kernel(uint64_t, Draft) override {}
  void save_source(session::SourceSave) override {}
  void reconnect(std::string) override {}
  void dismiss_toast(uint64_t) override {}
  void set_setting(std::string, Json) override {}
  void save_session(std::string, std::string, Json) override {}
  void open_session(std::filesystem::path) override {}
  void close_session() override {}
  void copy_preset(std::filesystem::path) override {}
  void delete_session(std::filesystem::path) override {}
  void restore_session(std::filesystem::path) override {}
  void note(session::LogLevel, std::string) override {}
  void stop() override {}

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
