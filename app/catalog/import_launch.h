#pragma once
#include <string>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/import.h"
#include "catalog/import_parameters.h"

namespace attnscope::catalog {

// How a note marks a number that the host code asks the runtime for.
inline constexpr const char* kOfDevice = " as on an sm_89 GPU of 58 SMs";

// A launch's shape as expressions of a manifest.
struct ImportedShape {
  std::vector<std::string> grid, block;  // x, y and z
  std::string shared;                    // bytes of dynamic shared memory; empty: none
  HostScope::Names names;                // of the host code, from which the grid is computed
  bool cooperative = false;              // the host code says so, or the kernel waits for the whole grid
};

// The shape of a kernel's launch: from the host code, otherwise guessed, as from __launch_bounds__. Adds facts
// and guesses to `imported`. `launch`: the kernel's launch in the host code, or null. `size_names`: the sizes that a
// guessed grid covers. `sizes`: gets those that only the grid has, such as a tensor's first dimension; null: it may
// have none.
ImportedShape import_shape(const ReadSource& source, const SourceKernel& kernel, const SourceLaunch* launch,
                           const std::vector<std::string>& size_names, std::map<std::string, int64_t>* sizes,
                           HostScope& scope, Imported& imported);

}  // namespace attnscope::catalog
