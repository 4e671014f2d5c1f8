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

// The last snapshot, passed from the loop's thread to any other. It has a lock for copying the pointer: libstdc++ 12's
// atomic<shared_ptr> ends a load with a relaxed unlock, which the next store may overtake (and its own lock is no
// cheaper).
class Published {
 public:
  void set(Shared<Snapshot> next) {
    const std::lock_guard lock(mutex_);
    snapshot_.swap(next);
  }  // frees the previous one after the lock
  Shared<Snapshot> get() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }

 private:
  mutable std::mutex mutex_;
  Shared<Snapshot> snapshot_;
};

}  // namespace

// Posts to the loop's thread, and hands out the snapshot that it published last.
class Session::Loop {
 public:
  explicit Loop(std::function<void()> on_change) : on_change_(std::move(on_change)) {
    snapshot_.set(share<Snapshot>());
  }
  ~Loop() { stop(); }

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

  Shared<Snapshot> snapshot() const { return snapshot_.get(); }

  template <class... Taken, class... Given>
  void post(void (SessionCore::*message)(Taken...), Given... given) {
    inbox_.post([this, message, ... given = std::move(given)] {
      if (!core_->shutting_down()) std::invoke(message, *core_, given...);
    });
  }

  std::future<Observation> queue(QueueLane::Request request) {
    auto future = request.answer->get_future();
    const auto answer = request.answer;
    if (!inbox_.post([this, request = std::move(request)] { core_->queue(request); }))
      answer->set_value(session_over());
    return future;
  }

  void stop() {
    if (!thread_.joinable()) return;
    inbox_.post([this] { core_->shut_down([this] { uv_stop(&loop_); }); });
    thread_.join();
  }

 private:
  std::function<void()> on_change_;
  Published snapshot_;
  uv_loop_t loop_{};
  Inbox inbox_;
  std::unique_ptr<SessionCore> core_;  // only the loop's thread touches it while that runs
  std::thread thread_;
};

Result<std::unique_ptr<Session>> Session::start(SessionOptions options, std::function<void()> on_change) {
  for (const WorkerCommand& worker : options.workers)
    if (worker.argv.empty() || worker.argv.front().empty())
      return fail(Stage::input, "worker " + worker.name + " has no command", "Give the program that is to be started.");
  if (options.workers.empty()) return fail(Stage::input, "no worker is given", "A session needs one worker at least.");
  auto loop = std::make_unique<Loop>(std::move(on_change));
  if (auto running = loop->run(std::move(options)); !running) return fail(running.error());
  return std::unique_ptr<Session>(new Session(std::move(loop)));
}

Session::Session(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Session::~Session() = default;

Shared<Snapshot> Session::snapshot() const { return loop_->snapshot(); }
void Session::focus(Draft draft, Gesture gesture) {
  loop_->post(&SessionCore::focus, std::move(draft), std::move(gesture));
}
void Session::rerun() { loop_->post(&SessionCore::rerun); }
void Session::cancel() { loop_->post(&SessionCore::cancel); }
void Session::watch() { loop_->post(&SessionCore::watch); }
void Session::undo() { loop_->post(&SessionCore::undo); }
void Session::redo() { loop_->post(&SessionCore::redo); }
void Session::select_history(uint64_t id) { loop_->post(&SessionCore::select_history, id); }
std::future<Observation> Session::queue(Draft draft, Watch watch) {
  return loop_->queue({std::move(draft), watch, std::make_shared<Answer>()});
}
void Session::request_view(ViewRequest request) { loop_->post(&SessionCore::request_view, std::move(request)); }
void Session::load_preset(std::filesystem::path path) { loop_->post(&SessionCore::load_preset, std::move(path)); }
void Session::save_preset(std::filesystem::path path, std::string title, Json view) {
  loop_->post(&SessionCore::save_preset, std::move(path), std::move(title), std::move(view));
}
void Session::describe_preset(std::filesystem::path path, std::string title, std::string note) {
  loop_->post(&SessionCore::describe_preset, std::move(path), std::move(title), std::move(note));
}
void Session::delete_preset(std::filesystem::path path) { loop_->post(&SessionCore::delete_preset, std::move(path)); }
void Session::reload_kernels() { loop_->post(&SessionCore::reload_kernels); }
void Session::reconnect(std::string worker) { loop_->post(&SessionCore::reconnect, std::move(worker)); }
void Session::dismiss_toast(uint64_t id) { loop_->post(&SessionCore::dismiss_toast, id); }
void Session::set_setting(std::string key, Json value) {
  loop_->post(&SessionCore::set_setting, std::move(key), std::move(value));
}
void Session::note(LogLevel level, std::string text) { loop_->post(&SessionCore::note, level, std::move(text)); }
void Session::stop() { loop_->stop(); }

}  // namespace attnscope::session
