#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "store/preset.h"

namespace attnscope::store {

// What a session was doing, kept so that the next one can go on after a normal exit or a crash.
struct Journal {
  Preset last;                  // the last knob positions
  std::string preset_path;      // the preset it came from; empty: none
  std::vector<Preset> kernels;  // the last knob positions of each kernel
};

Result<void> write_journal(const std::filesystem::path& path, const Journal& journal,
                           const std::vector<Kernel>& kernels);
// Empty: there is no journal. Failure: it names a kernel that no longer exists, or it cannot be understood; then it is
// moved aside as <name>.damaged-<n>, and the hint says so. One that cannot be read stays. Positions of another kernel
// are left out if that kernel, the knob or its value no longer exists.
Result<std::optional<Journal>> read_journal(const std::filesystem::path& path, const std::vector<Kernel>& kernels);

}  // namespace attnscope::store
