#include "ui/display/interop.h"

#include <glad/glad.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace attnscope::ui {
namespace {

constexpr unsigned kAllGlDevices = 1;     // CU_GL_DEVICE_LIST_ALL
constexpr unsigned kWriteDiscard = 2;     // CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD
constexpr unsigned kDeviceMemory = 2;     // CU_MEMORYTYPE_DEVICE
constexpr unsigned kArrayMemory = 3;      // CU_MEMORYTYPE_ARRAY
constexpr int64_t kBufferStep = 1 << 20;  // bytes; buffers grow in steps of this size

template <class T>
bool done(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::string renderer() {
  const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  return name != nullptr ? name : "an unknown renderer";
}

}  // namespace

Interop::Interop(int gpu)
    : gpu_(gpu), opening_(std::async(std::launch::async, []() -> Result<cuda_api::PixelCalls> {
        auto calls = cuda_api::PixelCalls::open();
        if (!calls) return calls;
        if (const int code = calls->init(0); code != 0)
          return fail(Stage::device, "CUDA does not start in the window's process (" + calls->name_of(code) + ")");
        return calls;
      })) {}

Interop::State Interop::refuse(std::string why) {
  refusal_ = std::move(why);
  return state_ = State::refused;
}

Interop::State Interop::poll() {
  if (opening_.valid() && done(opening_)) return meet_opengl(opening_.get());
  if (entering_.valid() && done(entering_)) return enter(entering_.get());
  return state_;
}

Interop::State Interop::meet_opengl(Result<cuda_api::PixelCalls> calls) {
  if (!calls) return refuse(calls.error().message + ".");
  calls_ = *calls;
  int device = 0, drawing[16] = {};
  unsigned count = 0;
  if (const int code = calls_.device_get(&device, gpu_); code != 0)
    return refuse("The window's process does not see cuda:" + std::to_string(gpu_) + " (" + calls_.name_of(code) +
                  ").");
  const int code = calls_.gl_devices(&count, drawing, std::size(drawing), kAllGlDevices);
  if (code != 0 || count == 0)
    return refuse("The window is drawn by " + renderer() + ", which shares no memory with CUDA.");
  if (std::find(drawing, drawing + count, device) == drawing + count)
    return refuse("The window is drawn by " + renderer() + ", another GPU than the one that measures.");
  entering_ =
      std::async(std::launch::async, [this, device] { return calls_.primary_context_retain(&context_, device); });
  return state_;
}

Interop::State Interop::enter(int code) {
  if (code == 0) code = calls_.context_set_current(context_);
  if (code != 0) return refuse("CUDA gives the window's process no context (" + calls_.name_of(code) + ").");
  return state_ = State::ready;
}

PixelPort::~PixelPort() {
  detach();
  free_buffers();
}

void PixelPort::free_buffers() {
  for (cuda_api::DevicePointer& buffer : buffers_)
    if (buffer != 0) interop_.calls().memory_free(std::exchange(buffer, 0));
}

Result<PixelTarget> PixelPort::target(int64_t bytes) {
  const cuda_api::PixelCalls& cuda = interop_.calls();
  target_.gpu = interop_.gpu();
  if (bytes > target_.bytes || buffers_[0] == 0) {
    free_buffers();
    target_.bytes = (bytes + kBufferStep - 1) / kBufferStep * kBufferStep;
    for (size_t at = 0; at < 2; ++at) {
      cuda_api::IpcHandle handle;
      int code = cuda.memory_alloc(&buffers_[at], static_cast<size_t>(target_.bytes));
      if (code == 0) code = cuda.ipc_get(&handle, buffers_[at]);
      if (code != 0) {
        free_buffers();
        return fail(Stage::device, "The GPU gives the window no memory to share (" + cuda.name_of(code) + ").");
      }
      target_.buffers[at].assign(handle.bytes.begin(), handle.bytes.end());
    }
  }
  ++target_.ticket;
  return target_;
}

void PixelPort::detach() {
  if (resource_ != nullptr) interop_.calls().unregister(std::exchange(resource_, nullptr));
}

Result<void> PixelPort::attach(uint32_t texture) {
  detach();
  const int code = interop_.calls().register_image(&resource_, texture, GL_TEXTURE_2D, kWriteDiscard);
  if (code == 0) return {};
  resource_ = nullptr;
  return fail(Stage::device, "CUDA does not take the window's image (" + interop_.calls().name_of(code) + ").");
}

Result<void> PixelPort::copy(uint64_t ticket, int width, int height) {
  const cuda_api::PixelCalls& cuda = interop_.calls();
  if (resource_ == nullptr) return fail(Stage::internal, "no image is attached");
  int code = cuda.map(1, &resource_, nullptr);
  if (code != 0) return fail(Stage::device, "CUDA cannot map the window's image (" + cuda.name_of(code) + ").");
  cuda_api::Copy2d copy;
  copy.from_type = kDeviceMemory;
  copy.from_device = buffers_[ticket % 2];
  copy.from_pitch = copy.width_bytes = static_cast<size_t>(width) * sizeof(float);
  copy.to_type = kArrayMemory;
  copy.height = static_cast<size_t>(height);
  code = cuda.mapped_array(&copy.to_array, resource_, 0, 0);
  if (code == 0) code = cuda.copy_2d(&copy);
  const int unmapped = cuda.unmap(1, &resource_, nullptr);
  if (code == 0) code = unmapped;
  if (code == 0) return {};
  return fail(Stage::device, "a map did not reach the window's image (" + cuda.name_of(code) + ").");
}

}  // namespace attnscope::ui
