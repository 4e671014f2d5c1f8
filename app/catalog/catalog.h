#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::catalog {

inline constexpr uint64_t kMaxManifestBytes = 1 << 20;
inline constexpr uint64_t kMaxSourceBytes = 4 << 20;

// A kernel's two texts, wherever they came from: a folder, or a message to a worker.
struct KernelText {
  std::string manifest_name;  // for messages: the path as given
  std::string manifest;
  std::string source_name;  // must be the manifest's "source"
  std::string source;
};

// UTF-8 without a zero byte: texts travel in JSON and end in a compiler that reads a C string. Failure (Stage::catalog)
// at `where`.
Result<void> is_text(const std::string& text, const std::string& where);

// XXH3-128 of manifest and source: what decides which kernel it is. Paths and names of files do not enter.
std::string content_hash(const std::string& manifest, const std::string& source);

// Reads a manifest's every field. A fault (an unknown key, a wrong type, an expression that does not evaluate at the
// default config, a default outside its knob's values, …) is a Failure (Stage::catalog) "FILE/json/pointer: reason".
Result<Kernel> parse_kernel(const KernelText& text);

// The manifest at `path` and the source beside it.
Result<Kernel> load_kernel(const std::filesystem::path& path);

struct Catalog {
  std::vector<Kernel> kernels;              // folders in the order given, files in the order of their names
  std::vector<Failure> failures;            // one for each manifest that did not load; the others are not affected
  std::map<std::string, Failure> unloaded;  // the same, by the id that its file's name gives it
};

// Every *.json of the folders. A kernel whose id stands already is a Failure that names both files. A folder that does
// not exist is a Failure too, since somebody named it.
Catalog load_catalog(const std::vector<std::filesystem::path>& dirs);

}  // namespace attnscope::catalog
