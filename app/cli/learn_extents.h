#pragma once
#include "cli/read_import.h"

namespace attnscope::cli {

// Runs an imported kernel at several small sizes in a confined process of its own, and puts what it accesses in place
// of guessed lengths and roles (catalog/learned.h). What the kernel does not run with stays a guess. The instructions
// of the runs are limited, not their time, unless `deadline_ms` is not 0: then they have a few times as long together.
// Never runs the file's host code.
void learn_extents(ImportedFile& file, int deadline_ms);

}  // namespace attnscope::cli
