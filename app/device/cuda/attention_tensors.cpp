#include "device/cuda/attention_tensors.h"

#include <algorithm>
#include <array>
#include <vector>

namespace attnscope::device {
namespace {

using check::GuardedBuffer;

constexpr size_t kGuard = GuardedBuffer::kGuardBytes;
constexpr int64_t kThreads = 256;    // of inputs.cu and poison.cu
constexpr int64_t kMostCtas = 4096;  // above this, a thread handles more than one element

// As declared in assets/gpu/inputs.cu.
struct Stream {
  int64_t elements, blocks, heads, seq, dim, rows_inside;
  uint64_t seed;
  uint32_t number;
  int32_t distribution;
};
struct InputsParameters {
  uint64_t tensor, differing;
  Stream stream;
};
// As declared in assets/gpu/poison.cu.
struct PoisonParameters {
  uint64_t tensor;
  int64_t elements;
  uint32_t poison, padding = 0;
};
constexpr size_t kPoisonBytes = offsetof(PoisonParameters, padding);

int64_t ctas_for(int64_t threads) { return std::clamp<int64_t>((threads + kThreads - 1) / kThreads, 1, kMostCtas); }

Stream stream_of(const Problem& p, check::Tensor tensor) {
  const bool is_q = tensor == check::Tensor::q;
  const int64_t elements = is_q ? p.q_elements() : p.kv_elements();
  return {elements,
          (elements + 3) / 4,
          is_q ? p.heads : p.kv_heads,
          is_q ? p.seq_q : p.seq_k,
          p.head_dim,
          p.layout == Layout::BHSD,
          p.seed,
          static_cast<uint32_t>(tensor),
          static_cast<int32_t>(p.distribution)};  // both enums have the same values
}

// Memory for `bytes` between two canaries.
Result<GpuMemory> guarded(const std::shared_ptr<Gpu>& gpu, size_t bytes) {
  return GpuMemory::make(gpu, bytes + 2 * kGuard);
}

Result<void> place_guards(GpuMemory& memory) {
  std::array<std::byte, kGuard> before, after;
  check::fill_guards(before, after);
  if (auto done = memory.upload(before); !done) return done;
  return memory.upload(after, memory.bytes() - kGuard);
}

Result<void> check_guards(const GpuMemory& memory, const char* name) {
  std::array<std::byte, kGuard> before, after;
  if (auto done = memory.download(before); !done) return done;
  if (auto done = memory.download(after, memory.bytes() - kGuard); !done) return done;
  return check::check_guards(name, memory.bytes() - 2 * kGuard, before, after);
}

}  // namespace

Result<std::unique_ptr<GpuTensors>> AttentionTensors::make(OwnKernels& kernels, const Problem& problem) {
  auto tensors = std::make_unique<AttentionTensors>();
  tensors->problem_ = problem;
  tensors->gpu_ = kernels.gpu();
  for (auto [kernel, name] : {std::pair{&tensors->inputs_kernel_, "inputs"}, {&tensors->poison_kernel_, "poison"}}) {
    auto loaded = kernels.load(name, problem.dtype);
    if (!loaded) return fail(loaded.error());
    *kernel = std::move(*loaded);
  }
  for (Input& input : tensors->inputs_) {
    const auto elements = static_cast<size_t>(stream_of(problem, input.stream).elements);
    auto memory = guarded(tensors->gpu_, elements * bytes_of(problem.dtype));
    if (!memory) return fail(memory.error());
    input.memory = std::move(*memory);
    if (auto done = place_guards(input.memory); !done) return fail(done.error());
    if (auto done = tensors->run_inputs(input, 0); !done) return fail(done.error());
  }
  auto o = guarded(tensors->gpu_, static_cast<size_t>(problem.q_elements()) * bytes_of(problem.dtype));
  if (!o) return fail(o.error());
  tensors->o_ = std::move(*o);
  if (auto done = tensors->renew_outputs(); !done) return fail(done.error());
  return tensors;
}

// Makes an input, or counts the elements that differ from it.
Result<void> AttentionTensors::run_inputs(const Input& input, cuda_api::DevicePointer differing) const {
  const InputsParameters block{input.memory.at() + kGuard, differing, stream_of(problem_, input.stream)};
  return run_own_kernel(*gpu_, *inputs_kernel_, ctas_for(block.stream.blocks), kThreads,
                        std::as_bytes(std::span(&block, 1)));
}

std::vector<uint64_t> AttentionTensors::addresses() const {
  const auto start = [](const GpuMemory& memory) { return memory.at() + kGuard; };
  return {start(inputs_[0].memory), start(inputs_[1].memory), start(inputs_[2].memory), start(o_)};
}

Result<void> AttentionTensors::renew_outputs() {
  if (auto done = place_guards(o_); !done) return done;
  const PoisonParameters block{o_.at() + kGuard, problem_.q_elements(), check::poison_word(problem_.dtype)};
  return run_own_kernel(*gpu_, *poison_kernel_, ctas_for(block.elements), kThreads,
                        std::as_bytes(std::span(&block, 1)).first(kPoisonBytes));
}

Result<std::vector<std::shared_ptr<const GuardedBuffer>>> AttentionTensors::take_outputs() const {
  auto output = fetch_guarded(o_, "o");
  if (!output) return fail(output.error());
  return std::vector<std::shared_ptr<const GuardedBuffer>>{std::make_shared<const GuardedBuffer>(std::move(*output))};
}

Result<void> AttentionTensors::check_inputs() const {
  const std::array<uint64_t, 3> none{};
  auto differing = GpuMemory::make(gpu_, std::as_bytes(std::span(none)));
  if (!differing) return fail(differing.error());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (auto intact = check_guards(inputs_[i].memory, inputs_[i].name); !intact) return intact;
    if (auto done = run_inputs(inputs_[i], differing->at() + i * sizeof(uint64_t)); !done) return done;
  }
  std::array<uint64_t, 3> counts{};
  if (auto done = differing->download(std::as_writable_bytes(std::span(counts))); !done) return done;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (counts[i] > 0) return check::input_was_written(inputs_[i].name);
  return {};
}

}  // namespace attnscope::device
