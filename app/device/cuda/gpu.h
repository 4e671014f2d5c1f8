#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "core/device_id.h"
#include "core/result.h"
#include "cuda_api/driver_calls.h"

namespace attnscope::device {

// One GPU of this process: its context and the one stream that all work uses. Several threads may use it; each calls
// enter() first.
class Gpu {
 public:
  Gpu(std::shared_ptr<const cuda_api::DriverCalls> calls, int ordinal) : calls_(std::move(calls)), ordinal_(ordinal) {}
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const cuda_api::DriverCalls& calls() const { return *calls_; }
  std::string id() const { return gpu_id(ordinal_); }
  int ordinal() const { return ordinal_; }
  // Null before the first enter(), as is the stream.
  cuda_api::Context context() const { return context_; }
  cuda_api::Stream stream() const { return stream_; }

  // Makes the GPU's context current in the calling thread; the first call creates it.
  Result<void> enter();
  // Failure (Stage::device) that names the call and CUDA's error. Records errors that destroy the context; see lost().
  Result<void> check(int code, const char* call);
  // A fault of the kernel itself (Stage::launch). `name` is the kernel with its config.
  tl::unexpected<Failure> kernel_failure(int code, const std::string& name);
  // Waits until the stream is empty. Returns the kernel's error code.
  int wait() const;
  // The context no longer works, so the process must end.
  bool lost() const { return lost_; }

 private:
  Result<void> create();

  std::shared_ptr<const cuda_api::DriverCalls> calls_;
  int ordinal_;
  std::mutex creating_;
  cuda_api::Context context_ = nullptr;
  cuda_api::Stream stream_ = nullptr;
  std::atomic<bool> lost_{false};
};

// Memory on a GPU.
class GpuMemory {
 public:
  // Failure (Stage::limits) if the GPU has too little free memory.
  static Result<GpuMemory> make(std::shared_ptr<Gpu> gpu, size_t bytes);
  static Result<GpuMemory> make(std::shared_ptr<Gpu> gpu, std::span<const std::byte> contents);
  GpuMemory() = default;
  GpuMemory(GpuMemory&& other) noexcept
      : gpu_(std::move(other.gpu_)), at_(std::exchange(other.at_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  GpuMemory& operator=(GpuMemory&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~GpuMemory();

  cuda_api::DevicePointer at() const { return at_; }
  size_t bytes() const { return bytes_; }
  Result<void> upload(std::span<const std::byte> from, size_t offset = 0);  // the copy is complete on return
  Result<void> download(std::span<std::byte> to, size_t offset = 0) const;

 private:
  std::shared_ptr<Gpu> gpu_;
  cuda_api::DevicePointer at_ = 0;
  size_t bytes_ = 0;
};

}  // namespace attnscope::device
