#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_api/driver_calls.h"
#include "model/occupancy.h"

namespace attnscope::device::testing {

// A driver whose device memory is this process's memory. Tests what device/cuda does around a launch without a GPU:
// inputs are made and checked to be unchanged, canaries, poison, verdicts, kinds of error, timing of graphs. Our own
// kernels (assets/gpu) run in the emulator; the kernel under test is a function of the test, or also runs in the
// emulator. One object at a time.
class FakeGpu {
 public:
  FakeGpu();
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  std::shared_ptr<const cuda_api::DriverCalls> calls() const;

  // Called at a launch with its parameter block; returns the CUresult of the wait for the launch. Empty: the kernel
  // runs in the emulator.
  std::function<int(std::byte* parameters)> kernel = [](std::byte*) { return 0; };
  // Kernels of ours that read what the emulator does not have, by name.
  std::map<std::string, std::function<int(std::byte* parameters, const model::LaunchShape& shape)>> ours;
  size_t memory_limit = size_t{1} << 30;
  double kernel_us = 30;  // on the fake GPU's clock
  double flush_us = 50;
  int gpus = 1;
  // One driver call of this name ("event_create", as in DriverCalls) is refused, after `refused_after` calls that are
  // not. -1: it has been refused.
  std::string refused;
  int refused_after = 0;
  bool refused_in_capture = false;  // only calls that become part of a graph count

  // What callers requested.
  size_t allocated = 0;  // bytes, now
  int launches = 0, modules = 0, graphs = 0;
  int events = 0;
  size_t flushed = 0;             // bytes of the last write of a flush buffer
  int opted_in = 0;               // bytes
  std::vector<uint64_t> outputs;  // the address of each launch's `o`
  model::LaunchShape shape;       // of the last launch
};

}  // namespace attnscope::device::testing
