#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/result.h"
#include "core/view.h"
#include "protocol/message.h"

namespace attnscope::worker {

// Answers map requests in order, on its own thread. The largest map takes most of a second, and the thread that reads
// requests must be free to handle a cancel.
class ViewDesk {
 public:
  using Make = std::function<Result<Tile>(const ViewRequest&)>;
  using Answer = std::function<void(protocol::Id, Result<Tile>)>;
  ViewDesk(Make make, Answer answer);
  ~ViewDesk();  // drops requests that have not started
  ViewDesk(const ViewDesk&) = delete;
  ViewDesk& operator=(const ViewDesk&) = delete;

  void ask(protocol::Id id, ViewRequest request);

 private:
  void serve();

  Make make_;
  Answer answer_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<std::pair<protocol::Id, ViewRequest>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attnscope::worker
