#pragma once
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/result.h"

namespace attnscope::ui {

// Writes one file, newest text wins, on its own thread: the UI thread does no file I/O. The last text is on the disk when
// the destructor returns.
class BackgroundWriter {
 public:
  // `on_failure` runs on the writer's thread. An empty path keeps nothing.
  BackgroundWriter(std::filesystem::path path, std::function<void(const Failure&)> on_failure);
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  void write(std::string text);

 private:
  void run();

  std::filesystem::path path_;
  std::function<void(const Failure&)> on_failure_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<std::string> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace attnscope::ui
