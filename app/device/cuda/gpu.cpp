#include "device/cuda/gpu.h"

#include <chrono>
#include <thread>

namespace attnscope::device {

using namespace cuda_api;

Result<void> Gpu::enter() {
  const std::lock_guard lock(creating_);
  if (context_ == nullptr)
    if (auto created = create(); !created) return created;
  return check(calls_->context_set_current(context_), "cuCtxSetCurrent");
}

Result<void> Gpu::create() {
  int device = 0;
  if (auto done = check(calls_->device_get(&device, ordinal_), "cuDeviceGet"); !done) return done;
  Context context = nullptr;
  if (auto done = check(calls_->primary_context_retain(&context, device), "cuDevicePrimaryCtxRetain"); !done)
    return done;
  if (auto done = check(calls_->context_set_current(context), "cuCtxSetCurrent"); !done) return done;
  constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
  if (auto done = check(calls_->stream_create(&stream_, non_blocking), "cuStreamCreate"); !done) return done;
  context_ = context;
  return {};
}

Result<void> Gpu::check(int code, const char* call) {
  if (code == kCudaSuccess) return {};
  if (is_sticky(code)) lost_ = true;
  return fail(Stage::device, id() + ": " + call + " failed with " + calls_->name_of(code) + ".",
              "Check the GPU with nvidia-smi: another program may hold it, or its driver may be in trouble.");
}

tl::unexpected<Failure> Gpu::kernel_failure(int code, const std::string& name) {
  if (is_sticky(code)) lost_ = true;
  return fail(Stage::launch, name + " on " + id() + ": " + calls_->name_of(code),
              "Run it on an emulated device, which names the source line of an illegal access.");
}

int Gpu::wait() const {
  // Spins while the kernel is short; waiting for a long one must not use a core.
  const auto begun = std::chrono::steady_clock::now();
  while (true) {
    const int code = calls_->stream_query(stream_);
    if (code != kCudaNotReady) return code;
    if (std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(3))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Result<GpuMemory> GpuMemory::make(std::shared_ptr<Gpu> gpu, size_t bytes) {
  GpuMemory memory;
  const int code = gpu->calls().memory_alloc(&memory.at_, bytes);
  if (code == kCudaOutOfMemory)
    return fail(Stage::limits, gpu->id() + " has no " + std::to_string(bytes) + " bytes of memory left",
                "Use a smaller problem, or end what else holds the GPU's memory.");
  if (auto done = gpu->check(code, "cuMemAlloc"); !done) return fail(done.error());
  memory.gpu_ = std::move(gpu);
  memory.bytes_ = bytes;
  return memory;
}

Result<GpuMemory> GpuMemory::make(std::shared_ptr<Gpu> gpu, std::span<const std::byte> contents) {
  auto memory = make(std::move(gpu), contents.size());
  if (memory)
    if (auto done = memory->upload(contents); !done) return fail(done.error());
  return memory;
}

GpuMemory::~GpuMemory() {
  // A lost context has freed everything. Any other error is reported by the next call.
  if (at_ != 0 && !gpu_->lost() && gpu_->enter()) gpu_->calls().memory_free(at_);
}

Result<void> GpuMemory::upload(std::span<const std::byte> from, size_t offset) {
  // cuMemcpyHtoD returns once pageable memory is staged, and the stream, which is non-blocking, does not wait for the
  // rest (CUDA's "API synchronization behavior"): on an H200 a judge read a reference that had not arrived.
  if (auto done = gpu_->check(gpu_->calls().copy_to_device(at_ + offset, from.data(), from.size(), gpu_->stream()),
                              "cuMemcpyHtoDAsync");
      !done)
    return done;
  return gpu_->check(gpu_->wait(), "cuMemcpyHtoDAsync");
}

Result<void> GpuMemory::download(std::span<std::byte> to, size_t offset) const {
  return gpu_->check(gpu_->calls().copy_to_host(to.data(), at_ + offset, to.size()), "cuMemcpyDtoH");
}

}  // namespace attnscope::device
