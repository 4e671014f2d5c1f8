#pragma once
#include <array>
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

// Reads a GPU's own counters in a session of its own, whose workers profile and time nothing, so that processes that
// time never profile. Meanwhile the window's session times nothing on that worker's GPUs. One reading at a time.
class HardwareDesk {
 public:
  // `profiling`: options of that session; empty: this window reads no counters. `wake` is called on another thread.
  HardwareDesk(std::optional<session::SessionOptions> profiling, std::function<void()> wake)
      : profiling_(std::move(profiling)), wake_(std::move(wake)) {}
  ~HardwareDesk() { cancel(); }  // also waits for the reading's end
  HardwareDesk(const HardwareDesk&) = delete;
  HardwareDesk& operator=(const HardwareDesk&) = delete;

  // The session's worker of that name profiles with this command, from the next reading on.
  void add_worker(session::WorkerCommand profiles);
  void remove_worker(const std::string& name);
  // Why the shown run's counters cannot be read now; empty if they can. Nothing is read while the run's worker is busy,
  // because it may be timing on the same GPU.
  std::string refusal(const session::Snapshot& snapshot, const Experiment& shown) const;
  // Requests a reading, which begins when nothing is being timed. Ignored during a reading.
  void read(session::Session& session, const session::Snapshot& snapshot, const Experiment& experiment);
  // Drops the reading and its result.
  void cancel();
  // Call once per frame: starts a pending reading when it may begin, and takes a finished one.
  void follow(session::Session& session, const session::Snapshot& snapshot);

  bool reads() const { return !held_.empty(); }
  bool is_cancelled() const { return reads() && *stop_; }
  bool waits() const { return reads() && !came_.valid(); }  // waits until nothing is being timed
  // The hash of the experiment that is being read; empty: none.
  const std::string& reading() const { return hash_; }
  std::string progress() const;  // "emulating tiled, 43 of 128 CTAs"; empty: unknown
  // The result of the last reading of that experiment: `hardware` with the emulator's counters, or why there are none.
  // Null if there was no reading.
  const Observation* of(const std::string& experiment_hash) const;
  // How many readings came: it changes whenever of() may say something else.
  uint64_t came() const { return kept_ever_; }
  // The hash of its experiment, made once for each of the two runs that were asked for last.
  std::string hash_of_run(const session::Shared<Observation>& run);

 private:
  static constexpr size_t kMostKept = 32;

  void begin();
  void keep(Observation seen);  // stores it as the result of the reading

  // Shared with the reading thread.
  struct Words {
    std::mutex mutex;
    std::string text;
  };

  std::optional<session::SessionOptions> profiling_;
  std::function<void()> wake_;
  std::shared_ptr<std::atomic<bool>> stop_;
  std::shared_ptr<Words> words_;
  std::string held_;   // the worker that times nothing meanwhile; empty: no reading
  uint64_t hold_ = 0;  // the number of the last hold; a snapshot may still show the previous one
  std::string hash_;
  Draft draft_;                                           // what is read
  std::string kernel_hash_;                               // of the experiment that is read
  std::deque<std::pair<std::string, Observation>> kept_;  // by the experiment's hash, oldest first
  uint64_t kept_ever_ = 0;
  std::array<std::pair<session::Shared<Observation>, std::string>, 2> hashed_;  // the last one first
  std::future<Observation> came_;  // the last member, so that its end is waited for first
};

}  // namespace attnscope::ui
