#include "catalog/devices.h"

#include <algorithm>

#include "core/device_id.h"
#include "core/json.h"
#include "model/assumed_rates.h"
#include "platform/json_file.h"

namespace attnscope::catalog {
namespace {

constexpr uint64_t kMaxDeviceBytes = 1 << 20;

// True for numbers that are figures, not descriptions of a device.
bool needs_source(const std::string& field, const Json& value) {
  return value.is_number() && field != "arch" && value.get<double>() != 0;
}

Result<void> check_sources(const DeviceSpec& spec, const std::string& where) {
  auto missing = [&](const std::string& field) {
    return fail(Stage::catalog, where + "/sources/" + field + ": is missing",
                "Say where the value of " + field + " is from.");
  };
  const Json fields = to_json(spec);
  for (const auto& [field, value] : fields.items())
    if (needs_source(field, value) && !spec.sources.contains(field)) return missing(field);
  for (const auto& [rate, value] : spec.rates) {
    if (!spec.sources.contains("rates/" + rate)) return missing("rates/" + rate);
    if (!(value > 0) && !(value == 0 && model::may_be_zero(rate)))
      return fail(Stage::catalog, where + "/rates/" + rate + ": must be above 0");
  }
  for (const auto& [name, source] : spec.sources)
    if (source.empty()) return missing(name);
  return {};
}

struct DeviceFile {
  DeviceSpec spec;
  bool is_default = false;
};

Result<DeviceFile> read_device(const std::filesystem::path& path) {
  const std::string where = path.string();
  Result<Json> json = platform::read_json(path, kMaxDeviceBytes, Stage::catalog);
  if (!json) return fail(json.error());
  bool is_default = false;
  JsonReader read(*json, where, Stage::catalog);
  read.boolean("default", is_default);
  if (auto done = read.finish(false); !done) return fail(done.error());
  json->erase("default");
  Result<DeviceSpec> spec = device_spec_from_json(*json, where);
  if (!spec) return fail(Stage::catalog, spec.error().message, spec.error().hint);
  const std::string expected = emulated_id(path.stem().string());
  if (spec->id != expected || !spec->emulated)
    return fail(Stage::catalog, where + "/id: must be \"" + expected + "\", of an emulated device",
                "Rename the file or the id.");
  if (auto checked = check_sources(*spec, where); !checked) return fail(checked.error());
  return DeviceFile{std::move(*spec), is_default};
}

void add_own(const std::filesystem::path& dir, DeviceCatalog& catalog) {
  std::error_code error;
  const std::vector<std::filesystem::path> files = platform::json_files_in(dir, error);
  if (error && error != std::errc::no_such_file_or_directory)
    catalog.failures.push_back({Stage::catalog, dir.string() + ": " + error.message() + ". Its devices are left out.",
                                "Check the rights of that folder and those above it."});
  for (const std::filesystem::path& file : files) {
    Result<DeviceFile> read = read_device(file);
    if (!read) {
      catalog.failures.push_back(read.error());
    } else if (std::ranges::any_of(catalog.devices, [&](const auto& one) { return one.id == read->spec.id; })) {
      catalog.failures.push_back({Stage::catalog, file.string() + ": " + read->spec.id + " comes with the program",
                                  "Give the file and its id another name."});
    } else if (read->is_default) {
      catalog.failures.push_back({Stage::catalog, file.string() + "/default: only a shipped device is the default",
                                  "Leave it out; a preset or --device chooses the device."});
    } else {
      catalog.devices.push_back(std::move(read->spec));
    }
  }
}

}  // namespace

Result<DeviceSpec> load_device(const std::filesystem::path& path) {
  return read_device(path).map([](DeviceFile file) { return std::move(file.spec); });
}

DeviceCatalog load_devices(const std::filesystem::path& shipped, const std::filesystem::path& own) {
  DeviceCatalog catalog;
  std::error_code error;
  const std::vector<std::filesystem::path> files = platform::json_files_in(shipped, error);
  if (error)
    catalog.failures.push_back({Stage::catalog,
                                shipped.string() + ": the devices' folder cannot be read: " + error.message(),
                                "It comes with the program, in assets/devices."});
  for (const std::filesystem::path& file : files) {
    Result<DeviceFile> read = read_device(file);
    if (read)
      catalog.devices.insert(read->is_default ? catalog.devices.begin() : catalog.devices.end(), std::move(read->spec));
    else
      catalog.failures.push_back(read.error());
  }
  if (!own.empty()) add_own(own, catalog);
  return catalog;
}

}  // namespace attnscope::catalog
