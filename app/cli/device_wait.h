#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "session/session.h"
#include "sweep/place.h"

namespace attnscope::cli {

// A session, and waiting for its workers' answers.
class WaitingSession {
 public:
  static Result<std::unique_ptr<WaitingSession>> start(session::SessionOptions options);
  session::Session& session() { return *session_; }

  using Found = sweep::Found;
  // The device with that id, or for an empty id the first worker's best: its first GPU, otherwise its first emulated
  // device. Waits until the device's worker has said hello or is lost. Stage::device if there is no such device.
  Result<Found> wait_for(const std::string& id);
  // Waits for a snapshot for which `holds` returns true. Writes to stderr what its workers wait for.
  std::shared_ptr<const session::Snapshot> wait_until(const std::function<bool(const session::Snapshot&)>& holds);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;
  std::unique_ptr<session::Session> session_;
};

// A worker's name means its best device, and an empty id the first worker's. Null if there is none.
const DeviceSpec* device_of(const session::Snapshot& snapshot, const std::string& id);

}  // namespace attnscope::cli
