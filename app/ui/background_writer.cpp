#include "ui/background_writer.h"

#include <utility>

#include "platform/atomic_file.h"

namespace attnscope::ui {

BackgroundWriter::BackgroundWriter(std::filesystem::path path, std::function<void(const Failure&)> on_failure)
    : path_(std::move(path)), on_failure_(std::move(on_failure)) {
  if (!path_.empty()) thread_ = std::thread([this] { run(); });
}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BackgroundWriter::write(std::string text) {
  if (path_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(text);
  }
  wake_.notify_one();
}

void BackgroundWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || waiting_; });
    if (!waiting_) return;
    const std::string text = *std::exchange(waiting_, std::nullopt);
    lock.unlock();
    const Result<void> written = platform::write_file(path_, text, platform::Durability::cached);
    if (!written && on_failure_) on_failure_(written.error());
    lock.lock();
  }
}

}  // namespace attnscope::ui
