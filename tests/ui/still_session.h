#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace attnscope::ui {

// A session over one fixed snapshot: nothing runs, and every request but one for a map is ignored. A map is answered at
// once, with the same values every time.
class StillSession : public session::Session {
 public:
  explicit StillSession(session::Snapshot snapshot);

  session::Shared<session::Snapshot> snapshot() const override { return now_; }
  void request_view(ViewRequest request) override;

  void request_code(Experiment, std::optional<int64_t>) override {}
  void request_softmax(Experiment, SoftmaxRow) override {}
  void request_timeline(Experiment, TimelineAsk) override {}
  void save_session(std::string, std::string, Json) override;
  void open_session(std::filesystem::path) override {}
  void close_session() override {}
  void copy_preset(std::filesystem::path) override {}
  void delete_session(std::filesystem::path) override {}
  void restore_session(std::filesystem::path) override {}
  void annotate(std::string, store::RunNote) override {}
  void focus(Draft, session::Gesture) override {}
  void rerun() override {}
  void cancel() override {}
  void watch() override {}
  void undo() override {}
  void redo() override {}
  void select_history(uint64_t) override {}
  std::future<Observation> queue(Draft, session::Watch) override { return {}; }
  void scan(session::ScanRequest) override {}
  void end_scan(uint64_t) override {}
  void load_preset(std::filesystem::path) override {}
  void save_preset(std::filesystem::path, std::string, Json) override;
  void describe_preset(std::filesystem::path, std::string, std::string) override {}
  void delete_preset(std::filesystem::path) override {}
  void reload_kernels() override {}
  void copy_kernel(uint64_t, Draft) override {}
  void save_source(session::SourceSave) override {}
  void reconnect(std::string) override {}
  void dismiss_toast(uint64_t) override {}
  void set_setting(std::string, Json) override;
  void note(session::LogLevel, std::string) override {}
  void stop() override {}

 private:
  std::shared_ptr<const session::Snapshot> now_;
};

// A snapshot after runs of tests/data/observations, oldest first; the last one is live. It has the kernels `tiled` and
// `minimal`, with a source and a story of the test's own, and the emulated L4.
session::Snapshot snapshot_after(const std::vector<std::string>& recordings);

// Gives every run the kernel's code of now, and what `change` does to it; the last one stays live.
void revise_runs(session::Snapshot& snapshot, const std::function<void(uint64_t run, Observation&)>& change);

}  // namespace attnscope::ui
