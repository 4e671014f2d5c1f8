#include "cli/places.h"

#include <utility>

#include "cli/exit_status.h"
#include "platform/paths.h"

namespace attnscope::cli {

Result<std::vector<std::filesystem::path>> kernel_dirs(const std::vector<std::string>& given) {
  auto shipped = platform::resources();
  if (!shipped) return fail(shipped.error());
  auto user = platform::user_paths();
  if (!user) return fail(user.error());
  std::vector<std::filesystem::path> dirs{*shipped / "kernels"};
  std::error_code error;
  if (const auto own = user->config / "kernels"; std::filesystem::is_directory(own, error)) dirs.push_back(own);
  static bool told = false;  // a command may call this more than once
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory &&
      !std::exchange(told, true))
    report({Stage::store, (user->config / "kernels").string() + ": " + error.message() + ". Its kernels are left out.",
            "Check the rights of that folder and those above it."});
  for (const std::string& dir : given) {
    if (!std::filesystem::is_directory(dir, error))
      return fail(Stage::input, "--kernels " + dir + ": " + (error ? error.message() : "not a folder"),
                  "Give a folder that holds .cu files with their manifests.");
    dirs.push_back(dir);
  }
  return dirs;
}

Result<std::vector<std::filesystem::path>> preset_dirs() {
  auto shipped = platform::resources();
  if (!shipped) return fail(shipped.error());
  auto user = platform::user_paths();
  if (!user) return fail(user.error());
  return std::vector<std::filesystem::path>{*shipped / "presets", user->config / "presets"};
}

Result<session::SessionOptions> session_options(const std::vector<std::string>& given_kernel_dirs, bool keep_state) {
  session::SessionOptions options;
  auto kernels = kernel_dirs(given_kernel_dirs);
  if (!kernels) return fail(kernels.error());
  options.kernel_dirs = *kernels;
  auto presets = preset_dirs();
  if (!presets) return fail(presets.error());
  options.preset_dirs = *presets;
  options.assets_dir = *platform::resources() / "assets";
  if (keep_state) options.state_dir = platform::user_paths()->data;
  auto self = platform::own_executable();
  if (!self) return fail(self.error());
  options.workers.push_back({"local", {self->string(), "worker"}});
  options.watch_files = keep_state;
  return options;
}

}  // namespace attnscope::cli
