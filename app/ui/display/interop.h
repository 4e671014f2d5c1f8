#pragma once
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "core/view.h"
#include "cuda_api/pixel_calls.h"

namespace attnscope::ui {

// CUDA in the window's process, on the GPU that both measures and draws it. What takes long happens on other threads:
// the driver's start, then, only if OpenGL runs on that very GPU, its context.
class Interop {
 public:
  enum class State { starting, ready, refused };

  explicit Interop(int gpu);  // CUDA's ordinal
  int gpu() const { return gpu_; }
  // Looks how far it has come. On the drawing thread, with OpenGL's context current.
  State poll();
  const std::string& refusal() const { return refusal_; }  // one sentence, when refused
  const cuda_api::PixelCalls& calls() const { return calls_; }

 private:
  State refuse(std::string why);
  State meet_opengl(Result<cuda_api::PixelCalls> calls);
  State enter(int code);

  int gpu_;
  State state_ = State::starting;
  std::string refusal_;
  cuda_api::PixelCalls calls_;
  cuda_api::Context context_ = nullptr;
  std::future<Result<cuda_api::PixelCalls>> opening_;
  std::future<int> entering_;  // a CUresult; fills context_
};

// Two buffers of one map's own, written by the executor in turn, and the OpenGL image they are copied into. Used on the
// drawing thread; `interop` is ready and outlives it.
class PixelPort {
 public:
  explicit PixelPort(const Interop& interop) : interop_(interop) {}
  ~PixelPort();
  PixelPort(const PixelPort&) = delete;
  PixelPort& operator=(const PixelPort&) = delete;

  // Where an answer of that many bytes may go. Each call takes the other buffer: a copy and the next write never meet,
  // as long as one answer is waited for at a time.
  Result<PixelTarget> target(int64_t bytes);
  // Makes an R32F texture known to CUDA; again after the texture was given another size.
  Result<void> attach(uint32_t texture);
  // From the buffer of that answer into the attached texture, row by row: width × height floats.
  Result<void> copy(uint64_t ticket, int width, int height);

 private:
  void detach();
  void free_buffers();

  const Interop& interop_;
  cuda_api::DevicePointer buffers_[2] = {0, 0};
  PixelTarget target_;
  cuda_api::GraphicsResource resource_ = nullptr;
};

}  // namespace attnscope::ui
