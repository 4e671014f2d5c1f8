#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_api/driver_calls.h"

namespace attnscope::device::testing {

// A driver whose device memory is this process's: what device/cuda does around a launch (inputs made, canaries, poison,
// inputs held unchanged, verdicts, errors told apart, graphs timed) without a GPU. Our own kernels (assets/gpu) execute
// in the emulator; the kernel under test is the test's function, or executes too. One at a time.
class FakeGpu {
 public:
  FakeGpu();
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  std::shared_ptr<const cuda_api::DriverCalls> calls() const;

  // Runs at a launch, with its parameter block; the value is the CUresult that waiting for it gives. Empty: the kernel
  // executes in the emulator.
  std::function<int(std::byte* parameters)> kernel = [](std::byte*) { return 0; };
  size_t memory_limit = size_t{1} << 30;
  double kernel_us = 30;  // on the fake GPU's clock
  double flush_us = 50;
  int gpus = 1;

  // What was asked of it.
  size_t allocated = 0;  // bytes, now
  int launches = 0, modules = 0, graphs = 0;
  int opted_in = 0;               // bytes
  std::vector<uint64_t> outputs;  // where each launch's `o` lay
};

}  // namespace attnscope::device::testing
