#include "device/cuda/clocked_launch.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace attnscope::device {
namespace {

constexpr int64_t kReadersPerSm = 4;  // CTAs of assets/gpu/clocks.cu
constexpr int64_t kLanes = 32;

// Memory of the GPU for `count` of T, all zero.
template <class T>
Result<GpuMemory> zeros(const std::shared_ptr<Gpu>& gpu, size_t count) {
  const std::vector<T> all(count);
  return GpuMemory::make(gpu, std::as_bytes(std::span(all)));
}

template <class T>
Result<std::vector<T>> fetch(const GpuMemory& memory) {
  std::vector<T> all(memory.bytes() / sizeof(T));
  if (auto done = memory.download(std::as_writable_bytes(std::span(all))); !done) return fail(done.error());
  return all;
}

// Queues a reading of every SM's clock.
Result<void> read_clocks(Gpu& gpu, const GpuKernel& reader, int64_t ctas, const GpuMemory& into) {
  const cuda_api::DevicePointer at = into.at();
  std::vector<std::byte> block(sizeof at);
  std::memcpy(block.data(), &at, sizeof at);
  if (const int code = reader.launch({{ctas, 1, 1}, {kLanes, 1, 1}}, 0, block); code != 0)
    return gpu.kernel_failure(code, reader.info().name);
  return {};
}

}  // namespace

Result<measure::ClockSpans> launch_clocked(OwnKernels& kernels, int64_t sms, const LaunchRequest& request,
                                           std::vector<ArgumentValue> arguments, const GpuProgram& twin,
                                           GpuTensors& tensors) {
  const std::shared_ptr<Gpu>& gpu = kernels.gpu();
  auto reader = kernels.load("clocks", DType::f16);
  if (!reader) return fail(reader.error());
  measure::ClockSpans made;
  made.total_ctas = request.shape.ctas();
  const auto& block = request.shape.block;
  made.warps = (block[0] * block[1] * block[2] + kLanes - 1) / kLanes;
  const int64_t recorded = std::min(made.total_ctas, static_cast<int64_t>(SmTimeline::kMostCtas));
  const int64_t readers = kReadersPerSm * sms;
  auto spans = zeros<measure::WarpClocks>(gpu, static_cast<size_t>(recorded * made.warps));
  auto before = zeros<measure::SmClock>(gpu, static_cast<size_t>(readers));
  auto after = zeros<measure::SmClock>(gpu, static_cast<size_t>(readers));
  for (const auto* memory : {&spans, &before, &after})
    if (!*memory) return fail(memory->error());

  std::vector<uint64_t> addresses = tensors.addresses();
  ArgumentValue& own = arguments.emplace_back();
  own.name = "the clocks";
  own.operand = addresses.size();
  addresses.push_back(spans->at());
  auto work = twin.bind(request, arguments, addresses);
  if (!work) return fail(work.error());

  if (auto launched = (*work)->launch(); !launched) return fail(launched.error());
  if (const int code = gpu->wait(); code != 0) return gpu->kernel_failure(code, request.name);
  if (auto renewed = tensors.renew_outputs(); !renewed) return fail(renewed.error());
  const std::vector<std::byte> none(spans->bytes());  // the first launch's clocks
  if (auto cleared = spans->upload(none); !cleared) return fail(cleared.error());
  if (auto read = read_clocks(*gpu, **reader, readers, *before); !read) return fail(read.error());
  if (auto launched = (*work)->launch(); !launched) return fail(launched.error());
  if (auto read = read_clocks(*gpu, **reader, readers, *after); !read) return fail(read.error());
  if (const int code = gpu->wait(); code != 0) return gpu->kernel_failure(code, request.name);

  auto warps = fetch<measure::WarpClocks>(*spans);
  if (!warps) return fail(warps.error());
  made.spans = std::move(*warps);
  for (const auto& [memory, into] : {std::pair{&*before, &made.before}, std::pair{&*after, &made.after}}) {
    auto all = fetch<measure::SmClock>(*memory);
    if (!all) return fail(all.error());
    *into = std::move(*all);
  }
  return made;
}

}  // namespace attnscope::device
