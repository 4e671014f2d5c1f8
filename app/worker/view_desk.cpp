#include "worker/view_desk.h"

namespace attnscope::worker {

ViewDesk::ViewDesk(Make make, Answer answer)
    : make_(std::move(make)), answer_(std::move(answer)), thread_([this] { serve(); }) {}

ViewDesk::~ViewDesk() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void ViewDesk::ask(protocol::Id id, ViewRequest request) {
  {
    std::lock_guard lock(mutex_);
    waiting_.emplace_back(id, std::move(request));
  }
  asked_.notify_one();
}

void ViewDesk::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const auto [id, request] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    answer_(id, make_(request));
    lock.lock();
  }
}

}  // namespace attnscope::worker
