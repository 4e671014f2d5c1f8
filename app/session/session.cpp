#include "session/session.h"

#include <csignal>
#include <mutex>
#include <thread>

#include "session/core.h"

namespace attnscope::session {
namespace {

// On this thread, a closed peer and a file at its size limit must cause write errors, not signals that end the program.
void block_write_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// The last snapshot, passed from the loop's thread to other threads. A mutex guards the copy of the pointer: libstdc++
// 12's atomic<shared_ptr> ends a load with a relaxed unlock, which the next store may overtake, and its own lock is no
// cheaper.
class Published {
 public:
  void set(Shared<Snapshot> next) {
    const std::lock_guard lock(mutex_);
    snapshot_.swap(next);
  }  // the previous snapshot is freed after the lock is released
  Shared<Snapshot> get() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }

 private:
  mutable std::mutex mutex_;
  Shared<Snapshot> snapshot_;
};

// Posts to the loop's thread and returns the snapshot that it published last.
class RunningSession final : public Session {
 public:
  explicit RunningSession(std::function<void()> on_change) : on_change_(std::move(on_change)) {
    snapshot_.set(share<Snapshot>());
  }
  ~RunningSession() override { stop(); }

  Result<void> run(SessionOptions options) {
    if (uv_loop_init(&loop_) != 0)
      return fail(Stage::internal, "the session's event loop could not be made", "Free some file handles.");
    if (!inbox_.open(&loop_)) {
      uv_run(&loop_, UV_RUN_DEFAULT);
      uv_loop_close(&loop_);
      return fail(Stage::internal, "the session's wake-up handle could not be made", "Free some file handles.");
    }
    core_ = std::make_unique<SessionCore>(&loop_, std::move(options), [this](Shared<Snapshot> next) {
      snapshot_.set(std::move(next));
      if (on_change_) on_change_();
    });
    inbox_.post([this] { core_->start(); });
    thread_ = std::thread([this] {
      block_write_signals();
      uv_run(&loop_, UV_RUN_DEFAULT);  // until stop() stops it
      inbox_.close();
      core_.reset();
      uv_run(&loop_, UV_RUN_DEFAULT);  // until the last handle is closed
      uv_loop_close(&loop_);
    });
    return {};
  }

  Shared<Snapshot> snapshot() const override { return snapshot_.get(); }
  void focus(Draft draft, Gesture gesture) override { post(&SessionCore::focus, std::move(draft), std::move(gesture)); }
  void rerun() override { post(&SessionCore::rerun); }
  void cancel() override { post(&SessionCore::cancel); }
  void watch() override { post(&SessionCore::watch); }
  void undo() override { post(&SessionCore::undo); }
  void redo() override { post(&SessionCore::redo); }
  void select_history(uint64_t id) override { post(&SessionCore::select_history, id); }
  std::future<Observation> queue(Draft draft, Watch watch) override {
    const auto answer = std::make_shared<Answer>();
    auto future = answer->get_future();
    if (!inbox_.post([this, request = QueueLane::Request{std::move(draft), watch, answer}] { core_->queue(request); }))
      answer->set_value(session_over());
    return future;
  }
  void scan(ScanRequest request) override { post(&SessionCore::scan, std::move(request)); }
  void end_scan(uint64_t id) override { post(&SessionCore::end_scan, id); }
  void request_view(ViewRequest request) override { post(&SessionCore::request_view, std::move(request)); }
  void request_softmax(Experiment experiment, SoftmaxRow row) override {
    post(&SessionCore::request_softmax, std::move(experiment), row);
  }
  void save_session(std::string title, std::string note, Json view) override {
    post(&SessionCore::save_session, std::move(title), std::move(note), std::move(view));
  }
  void open_session(std::filesystem::path path) override { post(&SessionCore::open_session, std::move(path)); }
  void copy_preset(std::filesystem::path path) override { post(&SessionCore::copy_preset, std::move(path)); }
  void close_session() override { post(&SessionCore::close_session); }
  void delete_session(std::filesystem::path path) override { post(&SessionCore::delete_session, std::move(path)); }
  void restore_session(std::filesystem::path path) override { post(&SessionCore::restore_session, std::move(path)); }
  void request_timeline(Experiment experiment, TimelineAsk ask) override {
    post(&SessionCore::request_timeline, std::move(experiment), ask);
  }
  void request_code(Experiment experiment, std::optional<int64_t> step) override {
    post(&SessionCore::request_code, std::move(experiment), step);
  }
  void load_preset(std::filesystem::path path) override { post(&SessionCore::load_preset, std::move(path)); }
  void save_preset(std::filesystem::path path, std::string title, Json view) override {
    post(&SessionCore::save_preset, std::move(path), std::move(title), std::move(view));
  }
  void describe_preset(std::filesystem::path path, std::string title, std::string note) override {
    post(&SessionCore::describe_preset, std::move(path), std::move(title), std::move(note));
  }
  void delete_preset(std::filesystem::path path) override { post(&SessionCore::delete_preset, std::move(path)); }
  void reload_kernels() override { post(&SessionCore::reload_kernels); }
  void copy_kernel(uint64_t id, Draft draft) override { post(&SessionCore::copy_kernel, id, std::move(draft)); }
  void save_source(SourceSave save) override { post(&SessionCore::save_source, std::move(save)); }
  void reconnect(std::string worker) override { post(&SessionCore::reconnect, std::move(worker)); }
  void add_worker(WorkerCommand worker) override { post(&SessionCore::add_worker, std::move(worker)); }
  void remove_worker(std::string worker) override { post(&SessionCore::remove_worker, std::move(worker)); }
  void hold_timing(std::string worker, uint64_t hold) override {
    post(&SessionCore::hold_timing, std::move(worker), hold);
  }
  void dismiss_toast(uint64_t id) override { post(&SessionCore::dismiss_toast, id); }
  void annotate(std::string hash, store::RunNote note) override {
    post(&SessionCore::annotate, std::move(hash), std::move(note));
  }
  void set_setting(std::string key, Json value) override {
    post(&SessionCore::set_setting, std::move(key), std::move(value));
  }
  void note(LogLevel level, std::string text) override { post(&SessionCore::note, level, std::move(text)); }

  void stop() override {
    if (!thread_.joinable()) return;
    inbox_.post([this] { core_->shut_down([this] { uv_stop(&loop_); }); });
    thread_.join();
  }

 private:
  template <class... Taken, class... Given>
  void post(void (SessionCore::*message)(Taken...), Given... given) {
    inbox_.post([this, message, ... given = std::move(given)] {
      if (!core_->shutting_down()) std::invoke(message, *core_, given...);
    });
  }

  std::function<void()> on_change_;
  Published snapshot_;
  uv_loop_t loop_{};
  Inbox inbox_;
  std::unique_ptr<SessionCore> core_;  // used only by the loop's thread while the loop runs
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Session>> Session::start(SessionOptions options, std::function<void()> on_change) {
  for (const WorkerCommand& worker : options.workers)
    if (auto able = check_command(worker); !able) return fail(able.error());
  if (options.workers.empty()) return fail(Stage::input, "no worker is given", "A session needs one worker at least.");
  auto session = std::make_unique<RunningSession>(std::move(on_change));
  if (auto running = session->run(std::move(options)); !running) return fail(running.error());
  return session;
}

}  // namespace attnscope::session
