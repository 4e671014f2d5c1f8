#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "store/preset.h"

namespace attnscope::store {

// A named session is a preset in a folder of its own: the experiment, and in its view what the window looked like and
// which runs it showed. The runs themselves stay in the results file. Deleted ones are in the folder "deleted" there.

// A run of the history, as a session names it: by its experiment and when it ended, in seconds since the epoch.
struct NamedRun {
  static constexpr double kApart =
      0.25;  // seconds, at most, between the end that a person saw and the one that was kept
  std::string hash;
  double at = 0;
  bool is(const std::string& other_hash, double other_at) const;
};

inline constexpr size_t kMostNamedRuns = 4096;  // of a session: the last ones

Json runs_to_json(const std::vector<NamedRun>& runs);
// Those of a preset's view; what cannot be understood is left out.
std::vector<NamedRun> runs_in(const Json& view);

// Under the name of the session of that title if there is one, which goes to the folder "deleted" first, else under a
// free name made of the title. Returns its path.
Result<std::filesystem::path> write_session(const std::filesystem::path& folder, const Preset& session,
                                            const std::vector<Kernel>& kernels);
// Moves a deleted one back into the folder above, under a free name, and returns the new path.
Result<std::filesystem::path> take_session_back(const std::filesystem::path& deleted);

}  // namespace attnscope::store
