#pragma once
#include <memory>
#include <span>
#include <string>

#include "device/cuda/gpu_kernel.h"
#include "device/device.h"

namespace attnscope::device {

// One launch of a program over buffers that stay where they are: what a run does once and a timer many times, under
// capture too.
class GpuWork {
 public:
  virtual ~GpuWork() = default;
  // Puts it on the GPU's stream.
  virtual Result<void> launch() = 0;
};

// What is ready to run on one GPU: a kernel, or a library's routine.
class GpuProgram {
 public:
  virtual ~GpuProgram() = default;
  // Of the library whose routine this is: "13.1.0"; empty: none, or it does not say.
  virtual std::string library_version() const { return {}; }
  // The same, its code elsewhere in memory where that can be had.
  virtual Result<std::shared_ptr<const GpuProgram>> once_more() const = 0;
  // `arguments` are the kernel's; operand i of the request lies at addresses[i]. The program outlives the work.
  virtual Result<std::unique_ptr<GpuWork>> bind(const LaunchRequest& request, std::span<const ArgumentValue> arguments,
                                                std::span<const uint64_t> addresses) const = 0;
};

Result<std::shared_ptr<const GpuProgram>> make_kernel_program(std::shared_ptr<Gpu> gpu,
                                                              const compile::Variant& variant);

}  // namespace attnscope::device
