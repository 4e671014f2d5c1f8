#pragma once
#include <string>
#include <vector>

#include "ui/still_session.h"

namespace attnscope::ui {

// A still session that writes down what a person asks of it; what the window asks by itself (code, maps) is left out.
class ListeningSession : public StillSession {
 public:
  using StillSession::StillSession;

  // What was asked since the last call.
  std::vector<std::string> asked();

  void save_session(std::string title, std::string note, Json view) override;
  void open_session(std::filesystem::path path) override;
  void close_session() override { note("close the session"); }
  void copy_preset(std::filesystem::path path) override;
  void delete_session(std::filesystem::path path) override;
  void restore_session(std::filesystem::path path) override;
  void annotate(std::string hash, store::RunNote note) override;
  void focus(Draft draft, session::Gesture gesture) override;
  void rerun() override { note("run again"); }
  void cancel() override { note("cancel"); }
  void watch() override { note("watch"); }
  void undo() override { note("undo"); }
  void redo() override { note("redo"); }
  void select_history(uint64_t id) override { note("select run " + std::to_string(id)); }
  std::future<Observation> queue(Draft draft, session::Watch) override;
  void scan(session::ScanRequest request) override;
  void end_scan(uint64_t) override { note("end a scan"); }
  void load_preset(std::filesystem::path path) override;
  void save_preset(std::filesystem::path path, std::string title, Json view) override;
  void describe_preset(std::filesystem::path path, std::string title, std::string note) override;
  void delete_preset(std::filesystem::path path) override;
  void reload_kernels() override { note("reload the kernels"); }
  void copy_kernel(uint64_t, Draft draft) override;
  void reconnect(std::string worker) override { note("reconnect " + worker); }
  void add_worker(session::WorkerCommand worker) override;
  void remove_worker(std::string worker) override { note("remove worker " + worker); }
  void dismiss_toast(uint64_t id) override { note("dismiss toast " + std::to_string(id)); }

 private:
  void note(std::string asked) { asked_.push_back(std::move(asked)); }
  void note(session::LogLevel, std::string) override {}
  // How a draft differs from the wanted experiment, as a JSON patch.
  std::string changed(const Draft& draft) const;

  std::vector<std::string> asked_;
};

}  // namespace attnscope::ui
