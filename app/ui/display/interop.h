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

// CUDA in the window's process, on the GPU that both measures and draws. Slow work is done on other threads: starting
// the driver and then, only if OpenGL runs on the same GPU, creating its context.
class Interop {
 public:
  enum class State { starting, ready, refused };

  explicit Interop(int gpu);  // CUDA's ordinal
  int gpu() const { return gpu_; }
  // Checks the progress. Call on the drawing thread with OpenGL's context current.
  State poll();
  const std::string& refusal() const { return refusal_; }  // one sentence, if refused
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
  std::future<int> entering_;  // a CUresult; sets context_
};

// Two buffers for one map, which the executor writes in turn, and the OpenGL image that they are copied into. Use on
// the drawing thread; `interop` must be ready and outlive it.
class PixelPort {
 public:
  explicit PixelPort(const Interop& interop) : interop_(interop) {}
  ~PixelPort();
  PixelPort(const PixelPort&) = delete;
  PixelPort& operator=(const PixelPort&) = delete;

  // The target for an answer of that many bytes. Calls alternate between the buffers, so that a copy and the next write
  // never overlap if only one answer is pending at a time.
  Result<PixelTarget> target(int64_t bytes);
  // Registers an R32F texture with CUDA. Call it again after the texture's size has changed.
  Result<void> attach(uint32_t texture);
  // Copies that answer's buffer into the attached texture, row by row: width × height floats.
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
