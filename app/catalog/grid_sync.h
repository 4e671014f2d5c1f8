#pragma once
#include "catalog/read_source.h"

namespace attnscope::catalog {

// True if the kernel, or a function of the file that it calls, waits for the whole grid: cooperative_groups'
// this_grid().sync(), sync() of a name that holds a grid_group, or barrier_arrive().
bool syncs_grid(const ReadSource& source, const SourceKernel& kernel);

}  // namespace attnscope::catalog
