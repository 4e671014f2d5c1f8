#pragma once
#include <optional>

#include "cli/read_import.h"
#include "core/result.h"

namespace attnscope::cli {

// Runs an imported kernel in the emulator: makes each buffer whose length is a guess longer until no access leaves it,
// and sizes smaller until a CTA ends in time. Returns why it does not run then; empty: it does. Never runs the file's
// host code.
// `deadline_ms`: of each run without progress, as OneRun has it; 0: the default's.
std::optional<Failure> probe(ImportedFile& file, int deadline_ms);

}  // namespace attnscope::cli
