#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace attnscope::catalog {

enum class ArgumentRole { input, output, number };

// A name that a manifest's "args" may contain, and the C type that the kernel must declare for it.
// docs/writing-a-kernel.md has the same table.
struct Argument {
  std::string_view name;
  std::string_view c_type;
  uint32_t bytes;  // in the kernel's parameter block, naturally aligned
  ArgumentRole role;
};

std::span<const Argument> arguments();
const Argument* find_argument(std::string_view name);

}  // namespace attnscope::catalog
