#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "store/preset.h"

namespace attnscope::store {

// What a session was doing, kept so that the next one can go on: after an orderly end and after a crash alike.
struct Journal {
  Preset last;                  // what the knobs asked for last
  std::string preset_path;      // the preset it came from; empty none
  std::vector<Preset> kernels;  // what each kernel was asked for last
};

Result<void> write_journal(const std::filesystem::path& path, const Journal& journal,
                           const std::vector<Kernel>& kernels);
// Empty: there is none. A journal that names a kernel that is gone is a Failure. So is one that cannot be understood:
// it is moved aside as <name>.damaged-<n>, and the hint says so. One that cannot be read stays.
// What another kernel was asked for is left out where that kernel is gone or no longer has such a knob or value.
Result<std::optional<Journal>> read_journal(const std::filesystem::path& path, const std::vector<Kernel>& kernels);

}  // namespace attnscope::store
