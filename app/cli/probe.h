#pragma once
#include "cli/given_file.h"

namespace attnscope::cli {

// Runs an imported kernel in the emulator and makes each buffer whose length is a guess longer until no access leaves
// it. A kernel that ends in another way keeps its guesses, which then say how it ended. Runs nothing if no length is a
// guess. Never runs the file's host code.
void probe(ImportedFile& file);

}  // namespace attnscope::cli
