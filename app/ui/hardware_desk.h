#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "session/session.h"

namespace attnscope::ui {

// Reads a GPU's own counters. A session of its own does, whose workers profile and time nothing, so that nothing is
// profiled in the processes that time. Meanwhile the window's own session times nothing on that worker's GPUs. One
// reading at a time.
class HardwareDesk {
 public:
  // `profiling`: of that session; empty: this window reads none. `wake` is called on another thread.
  HardwareDesk(std::optional<session::SessionOptions> profiling, std::function<void()> wake)
      : profiling_(std::move(profiling)), wake_(std::move(wake)) {}
  ~HardwareDesk() { cancel(); }  // and waits for the reading's end
  HardwareDesk(const HardwareDesk&) = delete;
  HardwareDesk& operator=(const HardwareDesk&) = delete;

  // Why the shown run's counters cannot be read now; empty: they can. Nothing is read while the run's worker does
  // something, which may be a timing on the same GPU.
  std::string refusal(const session::Snapshot& snapshot, const Experiment& shown) const;
  // It begins once nothing is timed. Nothing happens while one reads.
  void read(session::Session& session, const session::Snapshot& snapshot, const Experiment& experiment);
  // What is read comes to nothing.
  void cancel();
  // Once a frame: begins what may begin, and takes what has come.
  void follow(session::Session& session, const session::Snapshot& snapshot);

  bool reads() const { return !held_.empty(); }
  bool is_cancelled() const { return reads() && *stop_; }
  bool waits() const { return reads() && !came_.valid(); }  // for what is timed
  // The hash of the experiment that is read; empty: none is.
  const std::string& reading() const { return hash_; }
  std::string progress() const;  // "emulating tiled, 43 of 128 CTAs"; empty: not known
  // What came of the last reading of that experiment: `hardware` with the emulator's counters, or why there is nothing.
  // Null: none was read.
  const Observation* of(const std::string& experiment_hash) const;
  // How many readings came: it changes whenever of() may say something else.
  uint64_t came() const { return kept_ever_; }
  // The hash of its experiment, made once for each observation.
  const std::string& hash_of_run(const session::Shared<Observation>& run);

 private:
  static constexpr size_t kMostKept = 32;

  void begin();
  void keep(Observation seen);  // as what came of the reading

  // Of the thread that reads, too.
  struct Words {
    std::mutex mutex;
    std::string text;
  };

  std::optional<session::SessionOptions> profiling_;
  std::function<void()> wake_;
  std::shared_ptr<std::atomic<bool>> stop_;
  std::shared_ptr<Words> words_;
  std::string held_;   // the worker that times nothing meanwhile; empty: nothing is read
  uint64_t hold_ = 0;  // the last one's number: a snapshot may still show the one before
  std::string hash_;
  Draft draft_;                                           // what is read
  std::string kernel_hash_;                               // of the experiment that is read
  std::deque<std::pair<std::string, Observation>> kept_;  // by the experiment's hash, oldest first
  uint64_t kept_ever_ = 0;
  session::Shared<Observation> hashed_;
  std::string hash_of_hashed_;
  std::future<Observation> came_;  // the last member: its end is waited for first
};

}  // namespace attnscope::ui
