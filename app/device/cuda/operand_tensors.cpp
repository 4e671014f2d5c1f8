#include "device/cuda/operand_tensors.h"

#include <algorithm>

#include "core/hash.h"

namespace attnscope::device {
namespace {

using check::GuardedBuffer;
using check::OperandContents;

GuardedBuffer image_of(const OperandContents& one) {
  GuardedBuffer image(one.what.name, one.bytes.size());
  std::ranges::copy(one.bytes, image.data().begin());
  return image;
}

}  // namespace

Result<std::unique_ptr<GpuTensors>> OperandTensors::make(std::shared_ptr<Gpu> gpu,
                                                         std::shared_ptr<const check::Operands> operands) {
  auto tensors = std::make_unique<OperandTensors>();
  tensors->hashes_ = check::hash_read_only(*operands);
  for (const OperandContents& one : operands->all) {
    auto memory = GpuMemory::make(gpu, image_of(one).whole());
    if (!memory) return fail(memory.error());
    tensors->memory_.push_back(std::move(*memory));
  }
  tensors->operands_ = std::move(operands);
  return tensors;
}

std::vector<uint64_t> OperandTensors::addresses() const {
  std::vector<uint64_t> addresses;
  for (const GpuMemory& memory : memory_) addresses.push_back(memory.at() + GuardedBuffer::kGuardBytes);
  return addresses;
}

Result<void> OperandTensors::renew_outputs() {
  for (size_t i = 0; i < memory_.size(); ++i) {
    const OperandContents& one = operands_->all[i];
    if (one.what.role == BufferRole::in) continue;
    if (auto done = memory_[i].upload(image_of(one).whole()); !done) return done;
  }
  return {};
}

Result<std::vector<std::shared_ptr<const GuardedBuffer>>> OperandTensors::take_outputs() const {
  std::vector<std::shared_ptr<const GuardedBuffer>> outputs;
  for (size_t i = 0; i < memory_.size(); ++i) {
    const OperandContents& one = operands_->all[i];
    if (one.what.role == BufferRole::in) continue;
    auto buffer = fetch_guarded(memory_[i], one.what.name);
    if (!buffer) return fail(buffer.error());
    if (one.what.judged()) outputs.push_back(std::make_shared<const GuardedBuffer>(std::move(*buffer)));
  }
  return outputs;
}

Result<void> OperandTensors::check_inputs() const {
  std::vector<std::string> now(hashes_.size());
  for (size_t i = 0; i < memory_.size(); ++i) {
    const OperandContents& one = operands_->all[i];
    if (one.what.role != BufferRole::in) continue;
    const auto buffer = fetch_guarded(memory_[i], one.what.name);
    if (!buffer) return fail(buffer.error());
    now[i] = xxh3_128({reinterpret_cast<const char*>(buffer->data().data()), buffer->data().size()});
  }
  return check::check_read_only(*operands_, hashes_, now);
}

}  // namespace attnscope::device
