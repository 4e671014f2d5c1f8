#pragma once
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "sweep/micro.h"

namespace attnscope::cli {

// The results of one microbenchmark's configs.
struct MicroBoard {
  const Kernel* kernel = nullptr;
  std::vector<sweep::MicroRow> rows;      // fewest clocks for their work first
  std::vector<sweep::Rejected> rejected;  // not correct, without clocks, or excluded before they ran
  std::vector<Observation> runs;          // for each row
  size_t known = 0;                       // configs answered by earlier runs
};

struct MicroAsked {
  Problem problem;
  std::string device;
};

// `most`: rows of each board; 0: all.
std::string text_of(const std::vector<MicroBoard>& boards, const MicroAsked& asked, size_t most);
std::string csv_of(const std::vector<MicroBoard>& boards, const MicroAsked& asked);
Json to_json(const std::vector<MicroBoard>& boards, const MicroAsked& asked);

}  // namespace attnscope::cli
