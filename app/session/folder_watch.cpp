#include "session/folder_watch.h"

#include <algorithm>
#include <string_view>

namespace attnscope::session {

FolderWatch::FolderWatch(uv_loop_t* loop, std::vector<std::string> endings, std::function<void()> changed)
    : endings_(std::move(endings)), quiet_(loop, std::move(changed)), handle_(new uv_fs_event_t{}) {
  uv_fs_event_init(loop, handle_.get());
  handle_->data = this;
}

bool FolderWatch::start(const std::filesystem::path& folder) {
  auto heard = [](uv_fs_event_t* handle, const char* name, int, int) {
    static_cast<FolderWatch*>(handle->data)->event(name);
  };
  return uv_fs_event_start(handle_.get(), heard, folder.c_str(), 0) == 0;
}

void FolderWatch::event(const char* name) {
  const std::string_view file = name ? name : "";  // some systems do not name the file
  const bool ours = file.empty() || std::any_of(endings_.begin(), endings_.end(),
                                                [&](const std::string& ending) { return file.ends_with(ending); });
  if (ours) quiet_.start(kQuietMs);
}

}  // namespace attnscope::session
