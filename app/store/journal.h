#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "store/preset.h"

namespace attnscope::store {

// The state of a session, stored so that the next one continues after a normal exit or a crash.
struct Journal {
  Preset last;                  // the last knob positions
  std::string preset_path;      // the preset it came from; empty: none
  std::vector<Preset> kernels;  // the last knob positions of each kernel
};

Result<void> write_journal(const std::filesystem::path& path, const Journal& journal,
                           const std::vector<Kernel>& kernels);
// Empty: there is no journal. A Failure means that the journal names a kernel that no longer exists, or that it cannot
// be parsed; it is then moved aside as <name>.damaged-<n>, and the hint says so. A file that cannot be read stays in
// place. Positions of another kernel are left out if that kernel, the knob or its value no longer exists.
Result<std::optional<Journal>> read_journal(const std::filesystem::path& path, const std::vector<Kernel>& kernels);

}  // namespace attnscope::store
