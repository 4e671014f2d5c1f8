#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/softmax_steps.h"

namespace attnscope::catalog {

// The places of a manifest's "softmax" for one query row, evaluated.
struct SoftmaxSite {
  struct Written {
    int64_t line = 0;  // in the source's text, from 1
    std::string op;
    int64_t warp = 0, lane = 0, turn = 0;
  };
  struct Kept {
    std::string buffer;          // empty: the manifest does not name it
    std::vector<int64_t> bytes;  // for each key or column, in the buffer
  };
  int64_t cta[3] = {};
  int64_t keys = 0;       // per tile
  int64_t ends_line = 0;  // of the barrier after a tile
  double unit = 1;
  Written m, l;
  Kept scores, weights, o;
};

// Failures: Stage::input, the manifest has no "softmax", or the problem has no such row; Stage::catalog, an expression
// has no value, at its JSON pointer.
Result<SoftmaxSite> softmax_site(const Kernel& kernel, const Problem& problem, const Config& config,
                                 const SoftmaxRow& row);

// The number, from 1, of the only line of a text that contains `piece`; 0 if no line or several lines do.
int64_t only_line_with(const std::string& text, const std::string& piece);

}  // namespace attnscope::catalog
