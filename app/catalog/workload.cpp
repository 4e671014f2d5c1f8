#include "catalog/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "catalog/launch.h"
#include "core/expression.h"
#include "core/reference_shapes.h"

namespace attnscope::catalog {
namespace {

template <class T>
std::vector<std::byte> bytes_of_value(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
Result<std::vector<std::byte>> whole_bytes(double value, const std::string& where) {
  if (value != std::floor(value) || value < double(std::numeric_limits<T>::min()) ||
      value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return fail(Stage::catalog, fmt::format("{}: {} does not fit its type", where, value), "Choose another type.");
  return bytes_of_value(static_cast<T>(value));
}

// A 16-bit binary float, rounded to nearest even. `digits` is the number of bits after the point; `least` is the
// smallest normal exponent, whose field is 1.
std::vector<std::byte> small_float(double value, int digits, int least) {
  const auto infinity = static_cast<uint64_t>(2 - 2 * least) + 1;  // the exponent field with all bits set
  const double size = std::abs(value);
  const int exponent = size == 0 ? least : std::max(std::ilogb(size), least);
  // In units of the last place; rounding up to the next exponent carries into its field.
  const double units = std::nearbyint(std::ldexp(size, digits - exponent));
  const double bits = units + std::ldexp(double(exponent - least), digits);
  const auto field = std::min(static_cast<uint64_t>(std::min(bits, 65536.0)), infinity << digits);
  return bytes_of_value(static_cast<uint16_t>(field | (std::signbit(value) ? 0x8000u : 0u)));
}

// A value in the C type of its parameter.
Result<std::vector<std::byte>> value_bytes(double value, ElementType type, const std::string& where) {
  switch (type) {
    case ElementType::f32:
      return bytes_of_value(static_cast<float>(value));
    case ElementType::f64:
      return bytes_of_value(value);
    case ElementType::i32:
      return whole_bytes<int32_t>(value, where);
    case ElementType::u32:
      return whole_bytes<uint32_t>(value, where);
    case ElementType::i64:
      return whole_bytes<int64_t>(value, where);
    case ElementType::u8:
      return whole_bytes<uint8_t>(value, where);
    case ElementType::i8:
      return whole_bytes<int8_t>(value, where);
    case ElementType::i16:
      return whole_bytes<int16_t>(value, where);
    case ElementType::u16:
      return whole_bytes<uint16_t>(value, where);
    case ElementType::f16:
      return small_float(value, 10, -14);
    case ElementType::bf16:
      return small_float(value, 7, -126);
  }
  return fail(Stage::internal, where + ": no such type");
}

class Binder {
 public:
  Binder(const Kernel& kernel, const Problem& problem, const Config& config)
      : kernel_(kernel), problem_(problem), known_(variables(kernel, problem, config)) {}

  Result<Workload> bind() {
    for (size_t i = 0; i < kernel_.buffers.size(); ++i)
      if (auto done = add_operand(kernel_.buffers[i], fmt::format("{}/buffers/{}", kernel_.manifest_name, i)); !done)
        return fail(done.error());
    for (size_t i = 0; i < kernel_.arguments.size(); ++i) {
      auto value = argument(kernel_.arguments[i], kernel_.where(fmt::format("args/{}", i)));
      if (!value) return fail(value.error());
      work_.arguments.push_back(std::move(*value));
    }
    work_.references = kernel_.references;
    for (size_t i = 0; i < work_.references.size(); ++i) {
      const std::string which = work_.references.size() > 1 ? fmt::format("/{}", i) : "";
      if (auto fits = check_shapes(work_.references[i], work_.operands, kernel_.manifest_name + "/reference" + which);
          !fits)
        return fail(fits.error());
    }
    return std::move(work_);
  }

 private:
  Result<void> add_operand(const BufferDeclaration& declared, const std::string& where) {
    Operand operand{declared.name, declared.role, declared.type, {}, declared.init, declared.symbol, declared.guessed};
    double elements = 1;
    for (size_t i = 0; i < declared.shape.size(); ++i) {
      auto extent = evaluate(declared.shape[i], known_, fmt::format("{}/shape/{}", where, i));
      if (!extent) return fail(extent.error());
      operand.shape.push_back(*extent);
      elements *= double(std::max<int64_t>(*extent, 1));  // [2^53, 2^53, 0] has no elements, but its product overflows
    }
    bytes_ += elements * double(bytes_of(operand.type));
    if (bytes_ > double(kMaxWorkloadBytes))
      return fail(Stage::input, fmt::format("{}: the buffers of {} have over 4 GiB", kernel_.id, short_text(problem_)),
                  "Choose smaller sizes.");
    work_.operands.push_back(std::move(operand));
    return {};
  }

  Result<ArgumentValue> argument(const ArgumentDeclaration& declared, const std::string& where) {
    ArgumentValue value;
    value.name = declared.name.empty() ? declared.value : declared.name;
    if (!declared.fields.empty()) return structure(declared, where);
    const auto operand = std::ranges::find(work_.operands, declared.name, &Operand::name);
    if (!declared.name.empty() && operand != work_.operands.end()) {
      value.operand = static_cast<size_t>(operand - work_.operands.begin());
      auto offset = offset_in(*operand, declared, where);
      if (!offset) return fail(offset.error());
      value.offset = *offset;
    } else if (!declared.name.empty()) {
      value.whole = problem_.sizes.contains(declared.name) ? problem_.sizes.at(declared.name) : 0;
    } else {
      auto real = evaluate_real(declared.value, known_, where + "/value");
      if (!real) return fail(real.error());
      auto bytes = value_bytes(*real, declared.type, where + "/value");
      if (!bytes) return fail(bytes.error());
      value.bytes = std::move(*bytes);
    }
    return value;
  }

  // In bytes. One past the end is a valid address, as in C; reading there is a fault.
  Result<size_t> offset_in(const Operand& operand, const ArgumentDeclaration& declared,
                           const std::string& where) const {
    if (declared.offset.empty()) return size_t{0};
    auto elements = evaluate(declared.offset, known_, where + "/offset");
    if (!elements) return fail(elements.error());
    if (*elements > operand.elements())
      return fail(
          Stage::catalog,
          fmt::format("{}/offset: element {} of {}, which has {}", where, *elements, operand.name, operand.elements()),
          "Correct the offset, or the buffer's shape.");
    return static_cast<size_t>(*elements) * bytes_of(operand.type);
  }

  // Each field is at a multiple of its size; the whole is a multiple of the largest.
  Result<ArgumentValue> structure(const ArgumentDeclaration& declared, const std::string& where) {
    ArgumentValue whole;
    whole.name = "struct";
    size_t align = 1;
    for (size_t i = 0; i < declared.fields.size(); ++i) {
      auto field = argument(declared.fields[i], fmt::format("{}/struct/{}", where, i));
      if (!field) return fail(field.error());
      if (field->operand) field->bytes.resize(sizeof(uint64_t));
      if (field->whole) field->bytes = bytes_of_value(static_cast<int32_t>(*field->whole));
      const size_t size = field->bytes.size();
      align = std::max(align, size);
      whole.bytes.resize((whole.bytes.size() + size - 1) / size * size);
      if (field->operand) whole.addresses.push_back({whole.bytes.size(), *field->operand, field->offset});
      whole.bytes.insert(whole.bytes.end(), field->bytes.begin(), field->bytes.end());
    }
    whole.bytes.resize((whole.bytes.size() + align - 1) / align * align);
    return whole;
  }

  const Kernel& kernel_;
  const Problem& problem_;
  const Variables known_;
  Workload work_;
  double bytes_ = 0;
};

}  // namespace

Result<Workload> workload_of(const Kernel& kernel, const Problem& problem, const Config& config) {
  return Binder(kernel, problem, config).bind();
}

Result<void> check_copies(const Kernel& kernel, const Workload& workload) {
  for (size_t i = 0; i < kernel.steps.size(); ++i) {
    const ProgramStep& step = kernel.steps[i];
    if (step.kind != ProgramStep::Kind::copy) continue;
    const Operand &from = workload.operands[step.from], &to = workload.operands[step.to];
    if (from.bytes() != to.bytes())
      return fail(Stage::catalog,
                  fmt::format("{}/launches/{}/copy: {} has {} bytes and {} has {}", kernel.manifest_name, i, from.name,
                              from.bytes(), to.name, to.bytes()),
                  "A copy is of a whole buffer to one of the same size.");
  }
  return {};
}

Problem problem_for(const Kernel& kernel, const Problem& held) {
  Problem own = kernel.default_problem();
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (held.kind == own.kind && std::ranges::equal(held.sizes, own.sizes, same_name)) return held;
  own.seed = held.seed;
  own.distribution = held.distribution;
  return own;
}

}  // namespace attnscope::catalog
