#include "device/cuda/tensors.h"

#include <algorithm>
#include <vector>

namespace attnscope::device {
namespace {

using check::GuardedBuffer;

Result<GpuMemory> guarded(const std::shared_ptr<Gpu>& gpu, const char* name, const std::vector<std::byte>& contents) {
  GuardedBuffer image(name, contents.size());
  std::copy(contents.begin(), contents.end(), image.data().begin());
  return GpuMemory::make(gpu, image.whole());
}

Result<GuardedBuffer> fetched(const GpuMemory& memory, const char* name, size_t bytes) {
  GuardedBuffer image(name, bytes);
  if (auto done = memory.download(image.whole()); !done) return fail(done.error());
  if (auto intact = image.check_guards(); !intact) return fail(intact.error());
  return image;
}

}  // namespace

Result<GpuTensors> GpuTensors::make(std::shared_ptr<Gpu> gpu, const Problem& problem,
                                    std::shared_ptr<const check::AttentionInputs> inputs) {
  GpuTensors tensors;
  tensors.problem_ = problem;
  tensors.hashes_ = check::hash_inputs(inputs->q, inputs->k, inputs->v);
  auto q = guarded(gpu, "q", inputs->q);
  if (!q) return fail(q.error());
  auto k = guarded(gpu, "k", inputs->k);
  if (!k) return fail(k.error());
  auto v = guarded(gpu, "v", inputs->v);
  if (!v) return fail(v.error());
  auto o = GpuMemory::make(gpu, GuardedBuffer("o", inputs->q.size()).whole().size());
  if (!o) return fail(o.error());
  tensors.q_ = std::move(*q);
  tensors.k_ = std::move(*k);
  tensors.v_ = std::move(*v);
  tensors.o_ = std::move(*o);
  tensors.inputs_ = std::move(inputs);
  if (auto done = tensors.renew_output(); !done) return fail(done.error());
  return tensors;
}

TensorAddresses GpuTensors::addresses() const {
  constexpr auto guard = GuardedBuffer::kGuardBytes;
  return {q_.at() + guard, k_.at() + guard, v_.at() + guard, o_.at() + guard};
}

Result<void> GpuTensors::renew_output() {
  GuardedBuffer image("o", inputs_->q.size());
  check::fill_poison(problem_.dtype, image.data());
  return o_.upload(image.whole());
}

Result<std::shared_ptr<const GuardedBuffer>> GpuTensors::take_output() const {
  auto output = fetched(o_, "o", inputs_->q.size());
  if (!output) return fail(output.error());
  return std::make_shared<const GuardedBuffer>(std::move(*output));
}

Result<void> GpuTensors::check_inputs() const {
  const auto q = fetched(q_, "q", inputs_->q.size());
  if (!q) return fail(q.error());
  const auto k = fetched(k_, "k", inputs_->k.size());
  if (!k) return fail(k.error());
  const auto v = fetched(v_, "v", inputs_->v.size());
  if (!v) return fail(v.error());
  return check::check_inputs_unchanged(hashes_, check::hash_inputs(q->data(), k->data(), v->data()));
}

}  // namespace attnscope::device
