#include "core/workload.h"

namespace attnscope {
namespace {

// The least and the most number of inputs.
std::pair<size_t, size_t> inputs_of(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::each:
      return {0, 8};
    case ReferenceKind::add:
    case ReferenceKind::mul:
    case ReferenceKind::saxpy:
    case ReferenceKind::gemm_nt:
    case ReferenceKind::gemm_tn:
      return {2, 2};
    case ReferenceKind::gemm:
      return {2, 3};
    case ReferenceKind::attention:
    case ReferenceKind::attention_causal:
      return {3, 3};
    case ReferenceKind::layernorm:
      return {1, 3};
    case ReferenceKind::rmsnorm:
      return {1, 2};
    default:
      return {1, 1};
  }
}

}  // namespace

Result<void> known_reference(const ReferenceSpec& spec, const std::string& where) {
  const auto [fewest, most] = inputs_of(spec.kind);
  if (spec.inputs.size() < fewest || spec.inputs.size() > most)
    return fail(Stage::catalog,
                where + ": " + std::string(word_of(spec.kind)) + " of " + std::to_string(spec.inputs.size()) +
                    " inputs is not known",
                "docs/writing-a-kernel.md has the table of references.");
  if (spec.beta && (spec.kind != ReferenceKind::gemm || spec.inputs.size() < 3))
    return fail(Stage::catalog, where + ": \"beta\" is the factor of a gemm's third input", "Name c among the inputs.");
  if ((spec.kind == ReferenceKind::each) == spec.expr.empty())
    return fail(Stage::catalog, where + ": \"expr\" belongs to the kind each, and only to it", "");
  return {};
}

uint32_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8:
      return 1;
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i16:
    case ElementType::u16:
      return 2;
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::u32:
      return 4;
    case ElementType::f64:
    case ElementType::i64:
      return 8;
  }
  return 4;
}

bool is_floating(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 || type == ElementType::f64;
}

int64_t Operand::elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

size_t Workload::bytes() const {
  size_t sum = 0;
  for (const Operand& operand : operands)
    if (operand.role != BufferRole::workspace) sum += operand.bytes();
  return sum;
}

}  // namespace attnscope
