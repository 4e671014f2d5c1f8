#include "cli/places.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/exit_status.h"
#include "store/workers.h"

namespace attnscope::cli {

Result<Places> find_places() {
  auto resources = platform::resources();
  if (!resources) return fail(resources.error());
  auto user = platform::user_paths();
  if (!user) return fail(user.error());
  return Places{std::move(*resources), std::move(*user)};
}

namespace {

std::filesystem::path own_kernels_of(const Places& places) { return places.user.config / "kernels"; }

Result<std::vector<std::filesystem::path>> kernel_dirs_of(const Places& places, const std::vector<std::string>& given) {
  std::vector<std::filesystem::path> dirs{places.resources / "kernels"};
  std::error_code error;
  if (const auto own = own_kernels_of(places); std::filesystem::is_directory(own, error)) dirs.push_back(own);
  static bool told = false;  // a command may call this more than once
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory &&
      !std::exchange(told, true))
    report({Stage::store, own_kernels_of(places).string() + ": " + error.message() + ". Its kernels are left out.",
            "Check the rights of that folder and those above it."});
  for (const std::string& dir : given) {
    if (!std::filesystem::is_directory(dir, error))
      return fail(Stage::input, "--kernels " + dir + ": " + (error ? error.message() : "not a folder"),
                  "Give a folder that holds .cu files with their manifests.");
    dirs.push_back(dir);
  }
  return dirs;
}

std::vector<std::filesystem::path> preset_dirs_of(const Places& places) {
  return {places.resources / "presets", places.user.config / "presets"};
}

std::filesystem::path own_devices_of(const Places& places) { return places.user.config / "devices"; }

}  // namespace

std::filesystem::path own_lessons_of(const Places& places) { return places.user.config / "lessons"; }

std::filesystem::path own_tables_of(const Places& places) { return places.user.data / "tuned"; }

catalog::DeviceCatalog emulated_devices(const Places& places) {
  return catalog::load_devices(places.resources / "assets/devices", own_devices_of(places));
}

void add_kernels_option(CLI::App& command, std::vector<std::string>& dirs) {
  command.add_option("--kernels", dirs, "Also the kernels of this folder (may be repeated)")->type_name("DIR");
}

Result<std::vector<std::filesystem::path>> kernel_dirs(const std::vector<std::string>& given) {
  const auto places = find_places();
  return places ? kernel_dirs_of(*places, given) : fail(places.error());
}

Result<std::vector<std::filesystem::path>> preset_dirs() {
  const auto places = find_places();
  if (!places) return fail(places.error());
  return preset_dirs_of(*places);
}

Result<session::SessionOptions> session_options(const std::vector<std::string>& given_kernel_dirs, bool keep_state) {
  const auto places = find_places();
  if (!places) return fail(places.error());
  auto kernels = kernel_dirs_of(*places, given_kernel_dirs);
  if (!kernels) return fail(kernels.error());
  session::SessionOptions options;
  options.kernel_dirs = std::move(*kernels);
  options.preset_dirs = preset_dirs_of(*places);
  options.own_kernels = own_kernels_of(*places);
  options.assets_dir = places->resources / "assets";
  options.own_devices = own_devices_of(*places);
  if (keep_state) options.state_dir = places->user.data;
  auto self = platform::own_executable();
  if (!self) return fail(self.error());
  options.workers.push_back({store::kOwnWorker, {self->string(), "worker"}});
  options.watch_files = keep_state;
  return options;
}

}  // namespace attnscope::cli
