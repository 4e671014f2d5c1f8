#include "catalog/arguments.h"

namespace attnscope::catalog {
namespace {
constexpr Argument kArguments[] = {
    {"q", "const ATTN_T*", 8, ArgumentRole::input}, {"k", "const ATTN_T*", 8, ArgumentRole::input},
    {"v", "const ATTN_T*", 8, ArgumentRole::input}, {"o", "ATTN_T*", 8, ArgumentRole::output},
    {"scale", "float", 4, ArgumentRole::number},    {"batch", "int", 4, ArgumentRole::number},
    {"heads", "int", 4, ArgumentRole::number},      {"kv_heads", "int", 4, ArgumentRole::number},
    {"seq_q", "int", 4, ArgumentRole::number},      {"seq_k", "int", 4, ArgumentRole::number},
    {"head_dim", "int", 4, ArgumentRole::number},   {"causal", "int", 4, ArgumentRole::number},
};
}  // namespace

std::span<const Argument> arguments() { return kArguments; }

const Argument* find_argument(std::string_view name) {
  for (const Argument& argument : kArguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

}  // namespace attnscope::catalog
