#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/workload.h"

namespace attnscope::catalog {

struct ElementOf {
  ElementType type = ElementType::f32;
  int64_t lanes = 1;  // 4 for a float4
};

// The elements of a C or CUDA type: "float4" is four f32. Empty: the type's elements are unknown.
std::optional<ElementOf> element_of(const std::string& type);

}  // namespace attnscope::catalog
