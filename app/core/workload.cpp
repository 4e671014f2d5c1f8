#include "core/workload.h"

#include "core/words.h"

namespace attnscope {
namespace {

constexpr WordTable<ElementType, 11> kTypes{{{ElementType::f16, "f16"},
                                             {ElementType::bf16, "bf16"},
                                             {ElementType::f32, "f32"},
                                             {ElementType::f64, "f64"},
                                             {ElementType::i32, "i32"},
                                             {ElementType::u32, "u32"},
                                             {ElementType::i64, "i64"},
                                             {ElementType::u8, "u8"},
                                             {ElementType::i8, "i8"},
                                             {ElementType::i16, "i16"},
                                             {ElementType::u16, "u16"}}};
constexpr WordTable<BufferRole, 4> kRoles{{{BufferRole::in, "in"},
                                           {BufferRole::out, "out"},
                                           {BufferRole::inout, "inout"},
                                           {BufferRole::workspace, "workspace"}}};
struct ReferenceKind {
  std::string_view name;
  size_t least_inputs, most_inputs;
};
constexpr ReferenceKind kReferences[] = {
    {"each", 0, 8},       {"copy", 1, 1},
    {"scale", 1, 1},      {"relu", 1, 1},
    {"gelu", 1, 1},       {"silu", 1, 1},
    {"add", 2, 2},        {"mul", 2, 2},
    {"saxpy", 2, 2},      {"gemm", 2, 3},
    {"gemm_nt", 2, 2},    {"gemm_tn", 2, 2},
    {"attention", 3, 3},  {"attention_causal", 3, 3},
    {"transpose", 1, 1},  {"softmax", 1, 1},
    {"layernorm", 1, 3},  {"rmsnorm", 1, 2},
    {"reduce_sum", 1, 1}, {"reduce_max", 1, 1},
    {"reduce_min", 1, 1}, {"scan", 1, 1},
    {"sort", 1, 1},       {"histogram", 1, 1},
};

constexpr WordTable<BufferInit::Kind, 4> kInits{{{BufferInit::Kind::random, "random"},
                                                 {BufferInit::Kind::zeros, "zeros"},
                                                 {BufferInit::Kind::ones, "ones"},
                                                 {BufferInit::Kind::iota, "iota"}}};

}  // namespace

std::string_view to_string(ElementType type) { return word_of(kTypes, type); }
Result<ElementType> parse_element_type(std::string_view text) { return value_of(kTypes, text); }
std::string_view to_string(BufferRole role) { return word_of(kRoles, role); }
Result<BufferRole> parse_buffer_role(std::string_view text) { return value_of(kRoles, text); }
Result<BufferInit::Kind> parse_init_kind(std::string_view text) { return value_of(kInits, text); }

Result<void> known_reference(const ReferenceSpec& spec, const std::string& where) {
  std::string names;
  for (const ReferenceKind& kind : kReferences) {
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
    if (kind.name != spec.kind) continue;
    if (spec.inputs.size() < kind.least_inputs || spec.inputs.size() > kind.most_inputs)
      return fail(Stage::catalog,
                  where + ": " + spec.kind + " of " + std::to_string(spec.inputs.size()) + " inputs is not known",
                  "docs/writing-a-kernel.md has the table of references.");
    if ((spec.kind == "each") == spec.expr.empty())
      return fail(Stage::catalog, where + ": \"expr\" belongs to the kind each, and to it alone", "");
    return {};
  }
  return fail(Stage::catalog, where + ": \"" + spec.kind + "\" is no known reference",
              "Known: " + names + ". Leave \"reference\" out for a verdict of unchecked.");
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
