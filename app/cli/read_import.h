#pragma once
#include <optional>
#include <string>

#include "catalog/import.h"
#include "catalog/whole_source.h"
#include "cli/given_file.h"
#include "core/result.h"

namespace attnscope::cli {

// The file as `attnscope import` reads it, a source with its project's headers pasted in. Nothing is written.
struct ImportedFile {
  std::string name;            // of the source in the manifest; another than the file's if headers are pasted in
  catalog::WholeSource whole;  // its text is the bytes of machine code
  catalog::Imported imported;
  // Before a run made the first buffer longer; empty: none did.
  std::optional<catalog::Imported> at_first_lengths = {};
  std::optional<Failure> failure = {};  // how its last run failed; empty: it ran, or it is machine code
  bool compiled = false;                // a run of it had code to run
  bool hurried = false;                 // a limit by the clock ended a try: on another day there may be more
};

// Reads a file, with what other files of its project say of its kernel's launch, and runs the kernel in the emulator
// (cli/probe.h) to correct what was guessed: of a template whose numbers nothing says, the first guess that runs; of
// a kernel that compiles only where another file of the project includes it, that file. `deadline_ms`: of each run
// without progress, as OneRun has it.
Result<ImportedFile> read_import(const GivenFile& given, int deadline_ms = 0);
Result<void> rename_kernel(ImportedFile& file, const std::string& id);

Result<std::string> read_given(const GivenFile& given);
// A source with its project's headers.
Result<catalog::WholeSource> whole_of(const GivenFile& given, const std::string& source);

}  // namespace attnscope::cli
