#pragma once
#include <vector>

#include "catalog/cuda_source.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// Removes the launches in the text of __global__ functions, and of __device__ ones that are not __host__ too: the
// device makes them, with its own numbers.
void remove_device_launches(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                            std::vector<SourceLaunch>& launches);

}  // namespace attnscope::catalog
