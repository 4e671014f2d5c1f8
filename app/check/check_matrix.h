#pragma once
#include <vector>

#include "core/problem.h"

namespace attnscope::check {

// The further problems of a full check besides `problem`: other seeds, every distribution, lengths that no tile size
// divides, seq_q ≠ seq_k both ways (with fully masked rows under bottom_right), and several batches and heads. Kind,
// dtype, layout, head_dim, causal and scale stay, so the config under test still applies. Each costs at most about 40
// MFLOP.
std::vector<Problem> check_matrix(const Problem& problem);

}  // namespace attnscope::check
