#pragma once
#include <optional>
#include <string>

#include "catalog/project.h"
#include "catalog/whole_source.h"
#include "cli/read_import.h"

namespace attnscope::cli {

// What import made of a file before. An answer is kept under all that it depends on: the program itself, the file's
// text with its headers, the options, and the names and stamps of its project's other files, which may launch its
// kernel or define what it calls.
class ImportCache {
 public:
  // `own`: the file with its headers. Reads no other file.
  ImportCache(const GivenFile& given, const catalog::WholeSource& own, catalog::Project& project);

  // The files that its text is from (WholeSource::files) and what only import itself asks are not kept.
  std::optional<ImportedFile> get() const;
  // Failures mean only that the next import takes longer. An answer that depends on how busy the machine was
  // (ImportedFile::hurried) is not kept.
  void put(const ImportedFile& file) const;

 private:
  std::filesystem::path folder_;
  std::string key_;  // empty: nothing is kept, because a file has changed only just
};

}  // namespace attnscope::cli
