#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "catalog/validate.h"
#include "core/json.h"

namespace attnscope::catalog {

inline std::filesystem::path source_dir() { return ATTNSCOPE_SOURCE_DIR; }

inline Kernel shipped(const std::string& name) {
  Result<Kernel> kernel = load_kernel(source_dir() / "kernels" / (name + ".json"));
  if (!kernel) throw std::runtime_error(kernel.error().message);
  return *kernel;
}

inline DeviceSpec device(const std::string& name) {
  Result<DeviceSpec> spec = load_device(source_dir() / "assets/devices" / (name + ".json"));
  if (!spec) throw std::runtime_error(spec.error().message);
  return *spec;
}

inline Config config_of(const Kernel& kernel, const std::map<std::string, int64_t>& knobs) {
  Result<Config> config = complete_config(kernel, knobs, {});
  if (!config) throw std::runtime_error(config.error().message);
  return *config;
}

// The smallest manifest that loads; tests break it one field at a time.
inline Json good_manifest() {
  return Json::parse(R"JSON({
    "id": "sample", "title": "Sample", "source": "sample.cu", "entry": "sample", "problem": "attention",
    "knobs": [{"name": "TILE", "values": [16, 32], "default": 16},
              {"name": "MODE", "values": [{"label": "slow", "value": 0}, {"label": "fast", "value": 1}], "default": "fast"}],
    "requires": [{"expr": "TILE % 16 == 0", "why": "tiles are 16 wide"}],
    "supports": {"dtype": ["f16"], "head_dim": [64], "causal": ["none"]},
    "launch": {"grid": ["ceil_div(seq_q, TILE)", "heads", "batch"], "block": [128, 1, 1],
               "dynamic_shared": "shared_map_bytes"},
    "shared_map": [{"name": "tile", "bytes": "TILE * head_dim * dtype_bytes"}],
    "args": ["q", "k", "v", "o", "scale", "seq_q", "seq_k"]})JSON");
}

inline Result<Kernel> parse(const Json& manifest, const std::string& source = "// source") {
  return parse_kernel({"dir/03_sample.json", manifest.dump(), "sample.cu", source});
}

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// The test's own folder, removed with the object.
class ScratchDir {
 public:
  ScratchDir() {
    std::string name = (std::filesystem::temp_directory_path() / "attnscope_catalog_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~ScratchDir() { std::filesystem::remove_all(path_); }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace attnscope::catalog
