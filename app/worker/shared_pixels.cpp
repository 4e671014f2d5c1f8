#include "worker/shared_pixels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attnscope::worker {
namespace {

constexpr size_t kMostOpen = 8;          // enough for buffers of windows that were resized or closed
constexpr unsigned kLazyPeerAccess = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag

}  // namespace

Result<void> SharedPixels::make_current(int gpu) {
  if (!calls_) {
    auto calls = cuda_api::PixelCalls::open();
    if (!calls) return fail(calls.error());
    calls_ = *calls;
  }
  cuda_api::Context& context = contexts_[gpu];
  int device = 0, code = calls_->init(0);
  if (code == 0) code = calls_->device_get(&device, gpu);
  if (code == 0 && context == nullptr) code = calls_->primary_context_retain(&context, device);
  if (code == 0) code = calls_->context_set_current(context);
  if (code == 0) return {};
  return fail(Stage::device, "the executor cannot use the GPU for maps (" + calls_->name_of(code) + ")");
}

Result<cuda_api::DevicePointer> SharedPixels::opened(const PixelTarget& target) {
  const std::string& handle = target.buffers[target.ticket % 2];
  if (const auto found = memory_.find(handle); found != memory_.end()) return found->second;
  if (memory_.size() >= kMostOpen) {
    for (const auto& [old, memory] : memory_) calls_->ipc_close(memory);
    memory_.clear();
  }
  cuda_api::IpcHandle wire;
  std::memcpy(wire.bytes.data(), handle.data(), std::min(handle.size(), wire.bytes.size()));
  cuda_api::DevicePointer memory = 0;
  if (const int code = calls_->ipc_open(&memory, wire, kLazyPeerAccess); code != 0)
    return fail(Stage::device, "the executor cannot open the window's GPU memory (" + calls_->name_of(code) + ")");
  memory_[handle] = memory;
  return memory;
}

Result<void> SharedPixels::write(const PixelTarget& target, std::span<const float> values) {
  if (static_cast<int64_t>(values.size_bytes()) > target.bytes)
    return fail(Stage::internal, "the map is larger than the window's GPU memory for it");
  if (auto current = make_current(target.gpu); !current) return current;
  const auto memory = opened(target);
  if (!memory) return fail(memory.error());
  int code = calls_->copy_to_device(*memory, values.data(), values.size_bytes());
  if (code == 0) code = calls_->context_synchronize();
  if (code != 0) return fail(Stage::device, "the map did not reach the GPU (" + calls_->name_of(code) + ")");
  return {};
}

void SharedPixels::deliver(Tile& tile) {
  if (!tile.request.target) return;
  if (const auto written = write(*tile.request.target, tile.values); !written) {
    tile.not_in_target = written.error().message;
    return;
  }
  for (const float value : tile.values) {
    if (!std::isfinite(value)) continue;
    tile.low = std::min(tile.low, value);
    tile.high = std::max(tile.high, value);
  }
  tile.in_target = true;
  tile.values.clear();
}

}  // namespace attnscope::worker
