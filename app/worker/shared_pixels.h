#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/view.h"
#include "cuda_api/pixel_calls.h"

namespace attnscope::worker {

// Writes maps into GPU memory of the window's process, opened through CUDA IPC. Not thread-safe.
class SharedPixels {
 public:
  // Copies the tile's values into its target's buffer and waits for the copy; the tile then holds only their extremes.
  // If that fails, the tile keeps its values and says why.
  void deliver(Tile& tile);

 private:
  Result<cuda_api::DevicePointer> opened(const PixelTarget& target);
  Result<void> make_current(int gpu);
  Result<void> write(const PixelTarget& target, std::span<const float> values);

  std::optional<cuda_api::PixelCalls> calls_;
  std::map<int, cuda_api::Context> contexts_;              // by GPU ordinal
  std::map<std::string, cuda_api::DevicePointer> memory_;  // by IPC handle
};

}  // namespace attnscope::worker
