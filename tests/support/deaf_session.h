#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "session/session.h"

namespace attnscope::testing_support {

// A session that ignores every request. A test overrides the functions that it is about.
class DeafSession : public session::Session {
 public:
  void request_code(Experiment, std::optional<int64_t>) override {}
  void request_softmax(Experiment, SoftmaxRow) override {}
  void request_timeline(Experiment, TimelineAsk) override {}
  void save_session(std::string, std::string, Json) override {}
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
  void save_preset(std::filesystem::path, std::string, Json) override {}
  void describe_preset(std::filesystem::path, std::string, std::string) override {}
  void delete_preset(std::filesystem::path) override {}
  void reload_kernels() override {}
  void copy_kernel(uint64_t, Draft) override {}
  void save_source(session::SourceSave) override {}
  void reconnect(std::string) override {}
  void add_worker(session::WorkerCommand) override {}
  void remove_worker(std::string) override {}
  void hold_timing(std::string, uint64_t) override {}
  void dismiss_toast(uint64_t) override {}
  void set_setting(std::string, Json) override {}
  void note(session::LogLevel, std::string) override {}
  void stop() override {}
  void request_view(ViewRequest) override {}
};

}  // namespace attnscope::testing_support
