#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "catalog/devices.h"
#include "core/result.h"
#include "platform/paths.h"
#include "session/session.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

// The folders of the program's own files and of the user's. A Failure (Stage::store) if either is missing.
struct Places {
  std::filesystem::path resources;
  platform::Paths user;
};
Result<Places> find_places();

// The folder of the user's lessons.
std::filesystem::path own_lessons_of(const Places& places);

// The folder for the tables of best configs that searches on this machine found (report/tuned.h).
std::filesystem::path own_tables_of(const Places& places);

// The shipped devices and those in the user's config folder.
catalog::DeviceCatalog emulated_devices(const Places& places);

// --kernels, which may be repeated.
void add_kernels_option(CLI::App& command, std::vector<std::string>& dirs);

// Kernel folders in order of precedence: the shipped ones, the user's own, those given with --kernels.
Result<std::vector<std::filesystem::path>> kernel_dirs(const std::vector<std::string>& given);
Result<std::vector<std::filesystem::path>> preset_dirs();

// Options for a session with this program's own worker and all paths resolved. If `keep_state` is false, only caches
// are kept on disk.
Result<session::SessionOptions> session_options(const std::vector<std::string>& given_kernel_dirs, bool keep_state);

}  // namespace attnscope::cli
