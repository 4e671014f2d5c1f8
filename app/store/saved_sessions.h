#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "store/preset.h"

namespace attnscope::store {

// A named session is a preset in a folder of its own: it holds the experiment, and its view holds the state of the
// window and the runs shown. The runs themselves stay in the results file. Deleted sessions are in the subfolder
// "deleted".

// A session's reference to a run of the history: its experiment and its end, in seconds since the epoch.
struct NamedRun {
  static constexpr double kApart =
      0.25;  // seconds: the largest difference between the end that was shown and the one that was stored
  std::string hash;
  double at = 0;
  bool is(const std::string& other_hash, double other_at) const;
};

inline constexpr size_t kMostNamedRuns = 4096;  // per session; the last ones are kept

Json runs_to_json(const std::vector<NamedRun>& runs);
// The runs listed in a preset's view. Entries that cannot be parsed are left out.
std::vector<NamedRun> runs_in(const Json& view);

// Writes a session and returns its path. A session with the same title is moved to the folder "deleted" and its file
// name is used again; otherwise the title gives a free name.
Result<std::filesystem::path> write_session(const std::filesystem::path& folder, const Preset& session,
                                            const std::vector<Kernel>& kernels);
// Moves a deleted session back into the folder above, under a free name, and returns the new path.
Result<std::filesystem::path> take_session_back(const std::filesystem::path& deleted);

}  // namespace attnscope::store
