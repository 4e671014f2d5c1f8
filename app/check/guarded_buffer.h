#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/result.h"

namespace attnscope::check {

// The contents of an output before a kernel runs: signalling NaNs with a payload. IEEE arithmetic and the hardware's
// conversions produce only quiet NaNs, so an element with these bits was never written.
inline constexpr uint16_t kPoison16F = 0x7d5a;      // f16
inline constexpr uint16_t kPoison16B = 0x7fa5;      // bf16
inline constexpr uint32_t kPoison32 = 0x7fa5a5a5u;  // f32

void fill_poison(DType dtype, std::span<std::byte> tensor);
bool is_poison(DType dtype, const std::byte* tensor, int64_t index);
// True if all of the row is poison.
bool is_poison_row(DType dtype, const std::byte* tensor, int64_t first, int64_t count);
int64_t count_poison(DType dtype, std::span<const std::byte> tensor);
uint32_t poison_word(DType dtype);  // the bits of a poison element

// Fills the two canaries of a buffer, each GuardedBuffer::kGuardBytes long. For a buffer on a GPU only the canaries are
// copied.
void fill_guards(std::span<std::byte> before, std::span<std::byte> after);
// Failure (Stage::launch) that names the buffer and the first canary byte that changed.
Result<void> check_guards(const std::string& name, size_t bytes, std::span<const std::byte> before,
                          std::span<const std::byte> after);

// A buffer with a canary on either side. The device layer gives a kernel only `data()`; on a GPU it copies `whole()`
// there and back, so that a store just outside is found.
class GuardedBuffer {
 public:
  static constexpr size_t kGuardBytes = 4096;
  static constexpr size_t kAlignment = 256;  // of data(), like cudaMalloc's

  GuardedBuffer(std::string name, size_t bytes);
  GuardedBuffer(GuardedBuffer&&) noexcept = default;
  GuardedBuffer& operator=(GuardedBuffer&&) noexcept = default;

  const std::string& name() const { return name_; }
  std::span<std::byte> data() { return {storage_.data() + offset_, bytes_}; }
  std::span<const std::byte> data() const { return {storage_.data() + offset_, bytes_}; }
  // Guard, data, guard; kGuardBytes before data() and at least kGuardBytes after it.
  std::span<std::byte> whole() { return {storage_.data() + offset_ - kGuardBytes, bytes_ + 2 * kGuardBytes}; }

  // See check::check_guards().
  Result<void> check_guards() const;

 private:
  std::string name_;
  size_t bytes_ = 0;
  size_t offset_ = 0;  // of data() in storage_
  std::vector<std::byte> storage_;
};

}  // namespace attnscope::check
