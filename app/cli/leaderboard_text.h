#pragma once
#include <string>
#include <vector>

#include "charts/leaderboard.h"
#include "core/json_fwd.h"
#include "core/kernel.h"

namespace attnscope::cli {

// A leaderboard for the terminal and as JSON, each row with the command that repeats the run. `kernels` are the present
// ones; a row says so if it used another version. `kernel_dirs`: given with --kernels.
std::string text_of(const charts::Leaderboard& board, const std::vector<Kernel>& kernels,
                    const std::vector<std::string>& kernel_dirs, bool pairs);
Json to_json(const charts::Leaderboard& board, const std::vector<Kernel>& kernels,
             const std::vector<std::string>& kernel_dirs, bool pairs);

}  // namespace attnscope::cli
