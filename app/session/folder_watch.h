#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "session/uv.h"

namespace attnscope::session {

// Calls `changed` on the loop's thread when files with one of the given endings are written, moved or removed in a
// folder. It calls once, after kQuietMs without another change, because an editor writes a file in several steps.
class FolderWatch {
 public:
  static constexpr uint64_t kQuietMs = 120;

  FolderWatch(uv_loop_t* loop, std::vector<std::string> endings, std::function<void()> changed);
  // Returns false if the folder cannot be watched: it does not exist, or the system has no watches left.
  bool start(const std::filesystem::path& folder);

 private:
  void event(const char* name);

  std::vector<std::string> endings_;
  Timer quiet_;
  Uv<uv_fs_event_t> handle_;
};

}  // namespace attnscope::session
