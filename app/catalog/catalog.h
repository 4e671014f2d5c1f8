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

// The key of a program's steps in its manifest.
inline constexpr const char* kProgramKey = "launches";

// A kernel's manifest and its source or machine code, from a folder or from a message to a worker.
struct KernelText {
  std::string manifest_name;  // for messages: the path as given
  std::string manifest;
  std::string source_name;  // must be the manifest's "source" or "cubin"
  std::string source;       // or the bytes of machine code
};

// Checks that it is UTF-8 without a zero byte, because texts travel in JSON and reach a compiler that reads a C string.
// Failure (Stage::catalog) at `where`.
Result<void> is_text(const std::string& text, const std::string& where);

// XXH3-128 of manifest and source, which identifies the kernel. Paths and file names do not matter.
std::string content_hash(const std::string& manifest, const std::string& source);

// Reads every field of a manifest. A fault (an unknown key, a wrong type, an expression that does not evaluate for the
// default config, a default outside its knob's values, …) is a Failure (Stage::catalog) "FILE/json/pointer: reason".
Result<Kernel> parse_kernel(const KernelText& text);

// The id in a manifest's file name: "dir/02_tiled.json" gives tiled.
std::string id_of_file(const std::string& manifest_name);

// Reads the manifest at `path` and the source beside it; a library's routine has no source.
Result<KernelText> kernel_files(const std::filesystem::path& path);

// Loads the manifest at `path` and the source beside it.
Result<Kernel> load_kernel(const std::filesystem::path& path);

struct Catalog {
  std::vector<Kernel> kernels;              // in the order of the folders, then of the file names
  std::vector<Failure> failures;            // one for each manifest that did not load; other manifests are not affected
  std::map<std::string, Failure> unloaded;  // the same, by the id in the file's name
};

// Every *.json of the folders. A second kernel with the same id is a Failure that names both files. A folder that does
// not exist is also a Failure, because the user named it.
Catalog load_catalog(const std::vector<std::filesystem::path>& dirs);

}  // namespace attnscope::catalog
