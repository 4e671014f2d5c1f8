#include "sweep/place.h"

#include <algorithm>

namespace attnscope::sweep {

Versions Found::versions_of_runs() const {
  Versions all = versions;
  if (!device.emulated) all.gpu = device.name;
  return all;
}

bool Place::can_watch(const Kernel& kernel) const {
  return kernel.library.is_source() &&
         std::ranges::any_of(emulated, [&](const DeviceSpec& spec) { return spec.arch == device.device.arch; });
}

bool by_nvcc(const std::vector<Config>& configs) {
  const auto its = [](const Config& config) { return config.options.compiler == CompilerChoice::nvcc; };
  return std::ranges::any_of(configs, its);
}

std::optional<session::Sharing> sharing_of(const Place& place, const std::vector<Config>& configs) {
  auto sharing = place.sharing;
  if (sharing) sharing->by_nvcc = by_nvcc(configs);
  return sharing;
}

Result<OpenResults> open_results(const std::filesystem::path& file) {
  if (file.empty()) return OpenResults{};
  auto results = store::Results::open(file);
  if (results) return OpenResults{std::move(*results), ""};
  if (store::Results::has_any(file)) return fail(results.error());
  return OpenResults{nullptr, "results are not kept: " + results.error().message};
}

}  // namespace attnscope::sweep
