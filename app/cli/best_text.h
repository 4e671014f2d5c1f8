#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/json_fwd.h"
#include "core/kernel.h"
#include "report/tuned.h"

namespace attnscope::cli {

constexpr const char* kHistory = "history";  // the source of a figure that is in no table

bool of_another_version(const report::TunedEntry& entry, const std::vector<Kernel>& kernels);

// What `attnscope best` prints of the entries that it found, fastest first. Sources are shown relative to `root`.
std::string best_text(const std::vector<report::TunedEntry>& found, const Problem& problem, const DeviceSpec& device,
                      const std::vector<Kernel>& kernels, const std::filesystem::path& root);
Json best_json(const std::vector<report::TunedEntry>& found, const DeviceSpec& device,
               const std::vector<Kernel>& kernels);

}  // namespace attnscope::cli
