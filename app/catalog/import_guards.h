#pragma once
#include <array>
#include <string>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/read_source.h"

namespace attnscope::catalog {

// What a kernel's own text says of its grid, by axis.
struct OwnGrid {
  // As many CTAs as reach the bound that an index of this axis is compared with: `int i = blockIdx.x * blockDim.x +
  // threadIdx.x; if (i < n)`. Empty: there is none.
  std::array<std::string, 3> ctas;
  // What a CTA covers: the factor of blockIdx in an index that is compared with nothing; empty: there is none.
  std::array<std::string, 3> tile;
  std::array<bool, 3> used{};  // blockIdx of this axis is named
};
// `block`: the block's axes, as expressions of a manifest. `scope`: has the kernel's sizes.
OwnGrid own_grid(const ReadSource& source, const SourceKernel& kernel, const std::vector<std::string>& block,
                 const HostScope& scope);

}  // namespace attnscope::catalog
