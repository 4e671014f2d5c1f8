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

// Where the program's own files are and where it keeps the user's. A Failure (Stage::store) where either is missing.
struct Places {
  std::filesystem::path resources;
  platform::Paths user;
};
Result<Places> find_places();

// The folder of the user's lessons.
std::filesystem::path own_lessons_of(const Places& places);

// The folder of the tables of best configs that searches made here (report/tuned.h).
std::filesystem::path own_tables_of(const Places& places);

// The shipped devices and those of the user's config folder.
catalog::DeviceCatalog emulated_devices(const Places& places);

// --kernels, which may be repeated.
void add_kernels_option(CLI::App& command, std::vector<std::string>& dirs);

// Kernel folders in order of precedence: the shipped ones, the user's own, those given with --kernels.
Result<std::vector<std::filesystem::path>> kernel_dirs(const std::vector<std::string>& given);
Result<std::vector<std::filesystem::path>> preset_dirs();

// A session with this program's own worker and all paths resolved. With `keep_state` false only caches are kept on
// disk.
Result<session::SessionOptions> session_options(const std::vector<std::string>& given_kernel_dirs, bool keep_state);

}  // namespace attnscope::cli
