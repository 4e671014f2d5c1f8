#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "session/session.h"
#include "sweep/place.h"

namespace attnscope::cli {

// A session, and a wait for its workers' answers.
class WaitingSession {
 public:
  static Result<std::unique_ptr<WaitingSession>> start(session::SessionOptions options);
  session::Session& session() { return *session_; }

  using Found = sweep::Found;
  // The device of that id, or for an empty id the first worker's best: its first GPU, else its first emulated
  // device. Waits until the device's worker has said hello or is lost; Stage::device if there is no such device.
  Result<Found> wait_for(const std::string& id);
  // Waits for a snapshot for which `holds` is true. Says on stderr what its workers wait for.
  std::shared_ptr<const session::Snapshot> wait_until(const std::function<bool(const session::Snapshot&)>& holds);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;
  std::unique_ptr<session::Session> session_;
};

// A worker's own name stands for its best device, no name for the first worker's. Null: there is none.
const DeviceSpec* device_of(const session::Snapshot& snapshot, const std::string& id);

}  // namespace attnscope::cli
