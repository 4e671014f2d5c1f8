#include "check/operands.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>

#include "check/float_formats.h"
#include "check/inputs_simd.h"
#include "check/philox.h"
#include "core/hash.h"
#include "platform/memory.h"

namespace attnscope::check {
namespace {

constexpr uint32_t kFirstStream = 16;
constexpr uint64_t kPoison64 = 0x7ff5a5a5a5a5a5a5ull;

template <class T>
T load_as(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

template <class T>
void store_as(std::byte* data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof value), &value, sizeof value);
}

// Uniform over [low, high]; for integers, over every whole number from low to high.
double in_range(ElementType type, double low, double high, uint32_t random) {
  if (is_floating(type)) return low + (high - low) * (double(random >> 8) * 0x1p-24);
  return low + std::floor(double(random) * 0x1p-32 * (high - low + 1));
}

void fill_range(const Operand& operand, uint64_t seed, uint32_t stream, std::byte* out) {
  const double low = operand.init.low.value_or(0), high = operand.init.high.value_or(99);
  const int64_t count = operand.elements();
  for (int64_t first = 0; first < count; first += 4) {
    const std::array<uint32_t, 4> block = philox_block(seed, stream, static_cast<uint64_t>(first / 4));
    for (int64_t i = first; i < std::min(first + 4, count); ++i)
      store_value(operand.type, out, i, in_range(operand.type, low, high, block[static_cast<size_t>(i - first)]));
  }
}

void fill_distribution(const Operand& operand, const Problem& problem, uint32_t stream, std::byte* out) {
  constexpr int64_t kChunkBlocks = 1024;
  std::vector<float> chunk(static_cast<size_t>(kChunkBlocks * kElementsPerBlock));
  const int64_t count = operand.elements();
  for (int64_t first = 0; first < count; first += kChunkBlocks * kElementsPerBlock) {
    generate_blocks(problem.distribution, problem.seed, stream, static_cast<uint64_t>(first / kElementsPerBlock),
                    static_cast<size_t>(kChunkBlocks), chunk.data());
    const int64_t end = std::min<int64_t>(count, first + kChunkBlocks * kElementsPerBlock);
    if (operand.type == ElementType::f32) {  // the same bits as below, not converted one by one
      std::memcpy(out + first * 4, chunk.data(), static_cast<size_t>(end - first) * 4);
      continue;
    }
    for (int64_t i = first; i < end; ++i)
      store_value(operand.type, out, i, static_cast<double>(chunk[static_cast<size_t>(i - first)]));
  }
}

void fill(const Operand& operand, const Problem& problem, uint32_t stream, std::span<std::byte> out) {
  if (!operand.has_contents()) return fill_poison(operand.type, out);
  switch (operand.init.kind) {
    case BufferInit::Kind::zeros:
    case BufferInit::Kind::unset:
      return;
    case BufferInit::Kind::ones:
    case BufferInit::Kind::iota:
      for (int64_t i = 0; i < operand.elements(); ++i)
        store_value(operand.type, out.data(), i, operand.init.kind == BufferInit::Kind::ones ? 1 : double(i));
      return;
    case BufferInit::Kind::fill:
      for (int64_t i = 0; i < operand.elements(); ++i)
        store_value(operand.type, out.data(), i, operand.init.low.value_or(0));
      return;
    case BufferInit::Kind::random:
      if (is_floating(operand.type) && !operand.init.low)
        return fill_distribution(operand, problem, stream, out.data());
      return fill_range(operand, problem.seed, stream, out.data());
  }
}

Failure no_memory(const Problem& problem) {
  return {Stage::check, "there is not enough memory for the buffers of " + short_text(problem),
          "Choose smaller sizes."};
}

}  // namespace

double load_value(ElementType type, const std::byte* data, int64_t index) {
  switch (type) {
    case ElementType::f16:
      return double(float_from_f16(load_as<uint16_t>(data, index)));
    case ElementType::bf16:
      return double(float_from_bf16(load_as<uint16_t>(data, index)));
    case ElementType::f32:
      return double(load_as<float>(data, index));
    case ElementType::f64:
      return load_as<double>(data, index);
    case ElementType::i32:
      return load_as<int32_t>(data, index);
    case ElementType::u32:
      return load_as<uint32_t>(data, index);
    case ElementType::i64:
      return double(load_as<int64_t>(data, index));
    case ElementType::u8:
      return load_as<uint8_t>(data, index);
    case ElementType::i8:
      return load_as<int8_t>(data, index);
    case ElementType::i16:
      return load_as<int16_t>(data, index);
    case ElementType::u16:
      return load_as<uint16_t>(data, index);
  }
  return 0;
}

void store_value(ElementType type, std::byte* data, int64_t index, double value) {
  switch (type) {
    case ElementType::f16:
      return store_as(data, index, f16_from_float(static_cast<float>(value)));
    case ElementType::bf16:
      return store_as(data, index, bf16_from_float(static_cast<float>(value)));
    case ElementType::f32:
      return store_as(data, index, static_cast<float>(value));
    case ElementType::f64:
      return store_as(data, index, value);
    // Converted through 64 bits and then modulo the type, so that an iota of a narrow type wraps.
    case ElementType::i32:
      return store_as(data, index, static_cast<int32_t>(static_cast<int64_t>(value)));
    case ElementType::u32:
      return store_as(data, index, static_cast<uint32_t>(static_cast<int64_t>(value)));
    case ElementType::i64:
      return store_as(data, index, static_cast<int64_t>(value));
    case ElementType::u8:
      return store_as(data, index, static_cast<uint8_t>(static_cast<int64_t>(value)));
    case ElementType::i8:
      return store_as(data, index, static_cast<int8_t>(static_cast<int64_t>(value)));
    case ElementType::i16:
      return store_as(data, index, static_cast<int16_t>(static_cast<int64_t>(value)));
    case ElementType::u16:
      return store_as(data, index, static_cast<uint16_t>(static_cast<int64_t>(value)));
  }
}

void fill_poison(ElementType type, std::span<std::byte> data) {
  switch (type) {
    case ElementType::f16:
      return fill_poison(DType::f16, data);
    case ElementType::bf16:
      return fill_poison(DType::bf16, data);
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::u8:
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::u16:
      std::ranges::fill(data, std::byte{0xa5});  // memset does not take an empty span
      if (type == ElementType::f32) fill_poison(DType::f32, data);
      return;
    case ElementType::f64:
    case ElementType::i64:
      for (size_t at = 0; at + 8 <= data.size(); at += 8) std::memcpy(data.data() + at, &kPoison64, 8);
  }
}

bool is_poison(ElementType type, const std::byte* data, int64_t index) {
  std::array<std::byte, 8> poison;
  fill_poison(type, poison);
  return std::memcmp(data + index * bytes_of(type), poison.data(), bytes_of(type)) == 0;
}

Result<std::shared_ptr<const Operands>> make_operands(const Workload& workload, const Problem& problem) {
  uint64_t all_bytes = 0;
  for (const Operand& operand : workload.operands) all_bytes += operand.bytes();
  if (auto held = platform::hold_memory(all_bytes, "the buffers of " + short_text(problem)); !held)
    return fail(held.error());
  try {
    auto made = std::make_shared<Operands>();
    for (const Operand& operand : workload.operands) {
      std::vector<std::byte>& bytes = made->storage.emplace_back(operand.bytes());
      fill(operand, problem, kFirstStream + static_cast<uint32_t>(made->all.size()), bytes);
      made->all.push_back({operand, bytes});
    }
    return made;
  } catch (const std::bad_alloc&) {
    return fail(no_memory(problem));
  }
}

Result<std::shared_ptr<const Operands>> make_operands(std::shared_ptr<const AttentionInputs> inputs,
                                                      const Problem& problem) {
  constexpr ElementType kTypes[] = {ElementType::f16, ElementType::bf16, ElementType::f32};
  const ElementType type = kTypes[static_cast<size_t>(problem.dtype)];
  const auto operand = [&](const char* name, BufferRole role, std::span<const std::byte> bytes) {
    const auto elements = static_cast<int64_t>(bytes.size() / bytes_of(type));
    return OperandContents{{name, role, type, {elements}, {}}, bytes};
  };
  try {
    auto made = std::make_shared<Operands>();
    made->all = {operand("q", BufferRole::in, inputs->q), operand("k", BufferRole::in, inputs->k),
                 operand("v", BufferRole::in, inputs->v)};
    made->storage.emplace_back(inputs->q.size());
    fill_poison(type, made->storage.front());
    made->all.push_back(operand("o", BufferRole::out, made->storage.front()));
    made->attention = std::move(inputs);
    return made;
  } catch (const std::bad_alloc&) {
    return fail(no_memory(problem));
  }
}

std::vector<std::string> hash_read_only(const Operands& operands) {
  std::vector<std::string> hashes;
  for (const OperandContents& one : operands.all)
    hashes.push_back(one.what.role == BufferRole::in
                         ? xxh3_128({reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size()})
                         : std::string());
  return hashes;
}

tl::unexpected<Failure> input_was_written(const std::string& name) {
  return fail(Stage::launch, "the kernel wrote to its input " + name,
              "An input is read only: look for a store through the wrong pointer or past a tile's end.");
}

Result<void> check_read_only(const Operands& operands, const std::vector<std::string>& before,
                             const std::vector<std::string>& after) {
  for (size_t i = 0; i < operands.all.size(); ++i)
    if (before[i] != after[i]) return input_was_written(operands.all[i].what.name);
  return {};
}

}  // namespace attnscope::check
