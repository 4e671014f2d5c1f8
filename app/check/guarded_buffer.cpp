#include "check/guarded_buffer.h"

#include <fmt/format.h>

#include <cstring>

namespace attnscope::check {
namespace {

// Differs from byte to byte, so that copying a canary elsewhere does not restore it.
std::byte canary(size_t index) { return static_cast<std::byte>((index * 167 + 91) ^ (index >> 7)); }

uint16_t poison_16(DType dtype) { return dtype == DType::f16 ? kPoison16F : kPoison16B; }

template <class Word>
int64_t count_words(Word wanted, std::span<const std::byte> bytes) {
  int64_t found = 0;
  for (size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    found += word == wanted;
  }
  return found;
}

}  // namespace

uint32_t poison_word(DType dtype) { return dtype == DType::f32 ? kPoison32 : poison_16(dtype); }

void fill_poison(DType dtype, std::span<std::byte> tensor) {
  if (dtype == DType::f32) {
    for (size_t i = 0; i + 4 <= tensor.size(); i += 4) std::memcpy(tensor.data() + i, &kPoison32, 4);
  } else {
    const uint16_t poison = poison_16(dtype);
    for (size_t i = 0; i + 2 <= tensor.size(); i += 2) std::memcpy(tensor.data() + i, &poison, 2);
  }
}

bool is_poison(DType dtype, const std::byte* tensor, int64_t index) {
  if (dtype == DType::f32) {
    uint32_t bits;
    std::memcpy(&bits, tensor + 4 * index, 4);
    return bits == kPoison32;
  }
  uint16_t bits;
  std::memcpy(&bits, tensor + 2 * index, 2);
  return bits == poison_16(dtype);
}

bool is_poison_row(DType dtype, const std::byte* tensor, int64_t first, int64_t count) {
  const int64_t bytes = bytes_of(dtype);
  return count_poison(dtype, {tensor + first * bytes, static_cast<size_t>(count * bytes)}) == count;
}

int64_t count_poison(DType dtype, std::span<const std::byte> tensor) {
  return dtype == DType::f32 ? count_words(kPoison32, tensor) : count_words(poison_16(dtype), tensor);
}

GuardedBuffer::GuardedBuffer(std::string name, size_t bytes)
    : name_(std::move(name)), bytes_(bytes), storage_(bytes + 2 * kGuardBytes + kAlignment) {
  const auto start = reinterpret_cast<uintptr_t>(storage_.data()) + kGuardBytes;
  offset_ = kGuardBytes + (kAlignment - start % kAlignment) % kAlignment;
  fill_guards(whole().first(kGuardBytes), whole().last(kGuardBytes));
}

Result<void> GuardedBuffer::check_guards() const {
  const std::byte* begin = storage_.data() + offset_;
  return check::check_guards(name_, bytes_, {begin - kGuardBytes, kGuardBytes}, {begin + bytes_, kGuardBytes});
}

void fill_guards(std::span<std::byte> before, std::span<std::byte> after) {
  for (size_t i = 0; i < before.size(); ++i) before[i] = after[i] = canary(i);
}

Result<void> check_guards(const std::string& name, size_t bytes, std::span<const std::byte> before,
                          std::span<const std::byte> after) {
  auto refuse = [&](size_t distance, const char* side) {
    return fail(Stage::launch, fmt::format("the kernel wrote {} B {} buffer {} ({} B)", distance, side, name, bytes),
                "An index runs outside the tensor: check the bounds of the last tile and of ragged lengths.");
  };
  for (size_t i = before.size(); i-- > 0;)
    if (before[i] != canary(i)) return refuse(before.size() - i, "before the start of");
  for (size_t i = 0; i < after.size(); ++i)
    if (after[i] != canary(i)) return refuse(i + 1, "past the end of");
  return {};
}

}  // namespace attnscope::check
