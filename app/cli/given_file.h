#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/experiment_options.h"
#include "cli/findings.h"
#include "cli/import_code.h"
#include "core/result.h"
#include "platform/temporary_folder.h"

namespace CLI {
class Option;
}

namespace attnscope::cli {

// A .cu file or one of machine code on the command line, in place of a kernel's id.
struct GivenFile {
  std::string file, entry;
  std::string function;  // of the host code, whose launches are a program
  std::vector<std::string> include;
  LaunchText launch;  // of machine code, which does not say it
};
// Returns the file's option.
CLI::Option* add_file_options(CLI::App& command, GivenFile& given);

// The kernel of such a file, kept in the cache, or where that cannot be written in a temporary folder, so that a
// session finds it.
struct FileKernel {
  std::string folder, id;            // for --kernels and --kernel
  std::string manifest;              // the one beside the file; empty: as import reads the file
  std::vector<std::string> guessed;  // what import guessed
  std::vector<std::string> probed;   // what a run showed of its guesses
  std::shared_ptr<const platform::TemporaryFolder> temporary = {};  // `folder`; null: it is in the cache
};

// A manifest beside the file that names it as its source counts, with --entry only if it has that entry: a person may
// have corrected it. Otherwise the file is imported, with `deadline_ms` for its runs (read_import()). An id that
// another kernel has gets the text's hash.
Result<FileKernel> kernel_of(const GivenFile& given, const std::vector<std::string>& kernel_dirs, int deadline_ms = 0);

// The manifest that counted, or what import guessed; empty for a kernel of the catalog.
std::string of_file_text(const FileKernel& kernel);

// What the file's kernel depends on: its text with its headers, and the manifest beside it. Empty while an editor
// writes.
std::string text_of(const GivenFile& given);

// The experiment with the file's kernel in it, and its FileKernel; a .json file is a preset. Without a file, `options`
// as they are.
struct NamedFile {
  ExperimentOptions options;
  FileKernel kernel;  // without an id: the experiment has a kernel of the catalog
};
Result<NamedFile> named_by(const GivenFile& given, ExperimentOptions options, int deadline_ms = 0);

// The files that its findings' lines are in.
SourceFile source_of(const GivenFile& given, const NamedFile& named, const Kernel& kernel);

}  // namespace attnscope::cli
