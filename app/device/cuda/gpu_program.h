#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/gpu_kernel.h"
#include "device/launch.h"

namespace attnscope::device {

// One launch of a program over buffers that stay in place. A run launches it once, a timer many times and also under
// capture.
class GpuWork {
 public:
  virtual ~GpuWork() = default;
  // Queues the launch on the GPU's stream.
  virtual Result<void> launch() = 0;
};

// A launch's machine code as it is loaded, so that a place in it can be found again.
struct GpuCode {
  std::span<const std::byte> cubin;  // lives as long as the program
  const compile::CubinKernel* kernel = nullptr;
};

// A program that is ready to run on one GPU: a kernel, or a library's routine.
class GpuProgram {
 public:
  virtual ~GpuProgram() = default;
  // Version of the routine's library: "13.1.0"; empty: there is no library, or it does not report one.
  virtual std::string library_version() const { return {}; }
  // The code of each of its launches, in order; of a library's routine there is none.
  virtual void add_code(std::vector<GpuCode>&) const {}
  // The same program, with its code at another address where that is possible.
  virtual Result<std::shared_ptr<const GpuProgram>> once_more() const = 0;
  // `arguments` are the kernel's; operand i of the request is at addresses[i]. The program must outlive the work.
  virtual Result<std::unique_ptr<GpuWork>> bind(const LaunchRequest& request, std::span<const ArgumentValue> arguments,
                                                std::span<const uint64_t> addresses) const = 0;
};

Result<std::shared_ptr<const GpuProgram>> make_kernel_program(std::shared_ptr<Gpu> gpu,
                                                              const compile::Variant& variant);

// A program whose steps are queued one after the other on the GPU's stream. `programs` belong to its launches, in
// order.
std::shared_ptr<const GpuProgram> make_program_of_steps(std::shared_ptr<Gpu> gpu,
                                                        std::vector<std::shared_ptr<const GpuProgram>> programs);

}  // namespace attnscope::device
