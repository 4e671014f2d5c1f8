#include "session/session.h"

#include <csignal>
#include <mutex>
#include <thread>

#include "session/core.h"

namespace attnscope::session {
namespace {

// A peer that goes away and a file at its size limit must show as errors of a write on this thread, not as signals that
// end the program.
void block_write_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// The last snapshot, handed from the loop's thread to any other. A lock for the copy of a pointer: libstdc++ 12's
// atomic<shared_ptr> ends a load with a relaxed unlock, which the next store may overtake (its own lock is no cheaper).
class Published {
 public:
  void set(std::shared_ptr<const Snapshot> next) {
    const std::lock_guard lock(mutex_);
    snapshot_.swap(next);
  }  // the one before goes after the lock
  std::shared_ptr<const Snapshot> get() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
};

// The caller's side: posts to the loop's thread, and hands out the snapshot that it published last.
class LoopSession final : public Session {
 public:
  explicit LoopSession(std::function<void()> on_change) : on_change_(std::move(on_change)) {
    Snapshot empty;
    empty.kernels = std::make_shared<const std::vector<Kernel>>();
    empty.kernel_failures = std::make_shared<const std::vector<Failure>>();
    empty.devices = std::make_shared<const std::vector<DeviceSpec>>();
    empty.presets = std::make_shared<const std::vector<PresetItem>>();
    empty.log = std::make_shared<const std::vector<LogLine>>();
    empty.settings = std::make_shared<const Json>(Json::object());
    snapshot_.set(std::make_shared<const Snapshot>(std::move(empty)));
  }
  ~LoopSession() override { stop(); }

  Result<void> run(SessionOptions options) {
    if (uv_loop_init(&loop_) != 0)
      return fail(Stage::internal, "the session's event loop could not be made", "Free some file handles.");
    if (!inbox_.open(&loop_)) {
      uv_run(&loop_, UV_RUN_DEFAULT);
      uv_loop_close(&loop_);
      return fail(Stage::internal, "the session's wake-up handle could not be made", "Free some file handles.");
    }
    core_ = std::make_unique<SessionCore>(&loop_, std::move(options), [this](std::shared_ptr<const Snapshot> next) {
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

  std::shared_ptr<const Snapshot> snapshot() const override { return snapshot_.get(); }

  void focus(Draft draft, Gesture gesture) override {
    post([draft = std::move(draft), gesture = std::move(gesture)](SessionCore& core) { core.focus(draft, gesture); });
  }
  void rerun() override {
    post([](SessionCore& core) { core.rerun(); });
  }
  void cancel() override {
    post([](SessionCore& core) { core.cancel(); });
  }
  void watch() override {
    post([](SessionCore& core) { core.watch(); });
  }
  void undo() override {
    post([](SessionCore& core) { core.undo(); });
  }
  void redo() override {
    post([](SessionCore& core) { core.redo(); });
  }
  void select_history(uint64_t id) override {
    post([id](SessionCore& core) { core.select_history(id); });
  }

  std::future<Observation> queue(Draft draft, Watch watch) override {
    auto answer = std::make_shared<Answer>();
    auto future = answer->get_future();
    const bool posted =
        inbox_.post([this, draft = std::move(draft), watch, answer] { core_->queue(draft, watch, answer); });
    if (!posted) answer->set_value(session_over());
    return future;
  }

  void request_view(ViewRequest request) override {
    post([request = std::move(request)](SessionCore& core) { core.request_view(request); });
  }
  void load_preset(std::filesystem::path path) override {
    post([path = std::move(path)](SessionCore& core) { core.load_preset(path); });
  }
  void save_preset(std::filesystem::path path, std::string title, Json view) override {
    post([path = std::move(path), title = std::move(title), view = std::move(view)](SessionCore& core) {
      core.save_preset(path, title, view);
    });
  }
  void describe_preset(std::filesystem::path path, std::string title, std::string note) override {
    post([path = std::move(path), title = std::move(title), note = std::move(note)](SessionCore& core) {
      core.describe_preset(path, title, note);
    });
  }
  void delete_preset(std::filesystem::path path) override {
    post([path = std::move(path)](SessionCore& core) { core.delete_preset(path); });
  }
  void reload_kernels() override {
    post([](SessionCore& core) { core.reload_kernels(); });
  }
  void reconnect(std::string worker) override {
    post([worker = std::move(worker)](SessionCore& core) { core.reconnect(worker); });
  }
  void dismiss_toast(uint64_t id) override {
    post([id](SessionCore& core) { core.dismiss_toast(id); });
  }
  void set_setting(std::string key, Json value) override {
    post([key = std::move(key), value = std::move(value)](SessionCore& core) { core.set_setting(key, value); });
  }
  void note(LogLevel level, std::string text) override {
    post([level, text = std::move(text)](SessionCore& core) { core.note(level, text); });
  }

  void stop() override {
    if (!thread_.joinable()) return;
    inbox_.post([this] { core_->shut_down([this] { uv_stop(&loop_); }); });
    thread_.join();
  }

 private:
  void post(std::function<void(SessionCore&)> work) {
    inbox_.post([this, work = std::move(work)] {
      if (!core_->shutting_down()) work(*core_);
    });
  }

  std::function<void()> on_change_;
  Published snapshot_;
  uv_loop_t loop_{};
  Inbox inbox_;
  std::unique_ptr<SessionCore> core_;  // touched by the loop's thread alone while that runs
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Session>> Session::start(SessionOptions options, std::function<void()> on_change) {
  for (const WorkerCommand& worker : options.workers)
    if (worker.argv.empty() || worker.argv.front().empty())
      return fail(Stage::input, "worker " + worker.name + " has no command", "Give the program that is to be started.");
  if (options.workers.empty()) return fail(Stage::input, "no worker is given", "A session needs one worker at least.");
  auto session = std::make_unique<LoopSession>(std::move(on_change));
  if (auto running = session->run(std::move(options)); !running) return fail(running.error());
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace attnscope::session
