#pragma once
#include <string>
#include <vector>

#include "cli/sweep_board.h"

namespace attnscope::cli {

// Every config of a sweep in the open format of autotuning results, which Kernel Tuner reads (search/t4.h).
Json t4_of(const Scan& scan, const std::vector<search::Excluded>& excluded, const SweepPlan& plan);

// Replays the strategies that need no model on a recorded space and prints their scores (search/replay.h). Returns the
// exit status.
int replay_t4(const std::string& file, size_t repeats, bool json);

}  // namespace attnscope::cli
