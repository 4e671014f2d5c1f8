#include "platform/paths.h"

#include <cstdlib>
#include <system_error>

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

// One of the XDG variables, or its default below $HOME.
Result<fs::path> xdg(const char* variable, const char* below_home) {
  const fs::path named = environment(variable);
  if (named.is_absolute()) return named / "attnscope";
  const fs::path home = environment("HOME");
  if (!home.is_absolute())
    return fail(Stage::store, std::string("neither $HOME nor $") + variable + " names a folder",
                "Set HOME, or set ATTNSCOPE_HOME to a folder for attnscope's files.");
  return home / below_home / "attnscope";
}

bool holds_resources(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "kernels", ignored) && fs::is_directory(folder / "assets", ignored);
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<Paths> user_paths() {
  if (const fs::path home = environment("ATTNSCOPE_HOME"); !home.empty()) {
    std::error_code error;
    const fs::path root = fs::absolute(home, error);
    if (error) return fail(Stage::store, "ATTNSCOPE_HOME=" + home.string() + ": " + error.message(), "Name a folder.");
    return Paths{root / "cache", root / "config", root / "data"};
  }
  auto cache = xdg("XDG_CACHE_HOME", ".cache");
  if (!cache) return fail(cache.error());
  auto config = xdg("XDG_CONFIG_HOME", ".config");
  if (!config) return fail(config.error());
  auto data = xdg("XDG_DATA_HOME", ".local/share");
  if (!data) return fail(data.error());
  return Paths{*cache, *config, *data};
}

Result<fs::path> own_executable() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(Stage::internal, "/proc/self/exe: " + error.message(), "attnscope needs /proc to be mounted.");
  return path;
}

Result<fs::path> resources() {
  if (const fs::path named = environment("ATTNSCOPE_RESOURCES"); !named.empty()) {
    if (holds_resources(named)) return named;
    return fail(Stage::store, "ATTNSCOPE_RESOURCES=" + named.string() + " has no kernels/ and assets/",
                "Name the folder that holds assets/, kernels/, presets/ and shaders/, or unset it.");
  }
  auto self = own_executable();
  if (!self) return fail(self.error());
  const fs::path installed = self->parent_path().parent_path() / "share" / "attnscope";
  for (const fs::path& folder : {installed, fs::path(ATTNSCOPE_SOURCE_TREE)})
    if (holds_resources(folder)) return folder;
  return fail(Stage::store, "neither " + installed.string() + " nor the source tree holds kernels/ and assets/",
              "Reinstall attnscope, or set ATTNSCOPE_RESOURCES to the folder that holds them.");
}

}  // namespace attnscope::platform
