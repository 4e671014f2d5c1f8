#pragma once
#include "catalog/cuda_source.h"
#include "catalog/host_source.h"

namespace attnscope::catalog {

// Makes launches of kernels that the host code names in another way: `auto k = kernel<4>; k<<<…>>>(…)`, a function that
// launches the kernel that it is given, and cudaLaunchKernel(kernel, grid, block, arguments, …), as far as `text`, the
// source, says the arguments: `void* arguments[] = {&x, &n};`.
void follow_launches(CudaSource& source, const HostSource& host, const std::string& text);

}  // namespace attnscope::catalog
