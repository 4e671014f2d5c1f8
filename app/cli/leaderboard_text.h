#pragma once
#include <string>
#include <vector>

#include "charts/leaderboard.h"
#include "core/json_fwd.h"
#include "core/kernel.h"

namespace attnscope::cli {

// A leaderboard for the terminal and as JSON, each row with the command that runs it again. `kernels`: those that are
// here now; a row of another version of one says so. `kernel_dirs`: given with --kernels.
std::string text_of(const charts::Leaderboard& board, const std::vector<Kernel>& kernels,
                    const std::vector<std::string>& kernel_dirs);
Json to_json(const charts::Leaderboard& board, const std::vector<Kernel>& kernels,
             const std::vector<std::string>& kernel_dirs);

}  // namespace attnscope::cli
