#pragma once
#include <vector>

#include "check/inputs.h"

namespace attnscope::check {

// A simple attention in long double that shares no code with app/check except element offsets: the fast reference is
// compared with it. [batch, heads, seq_q, head_dim] in that order for any layout.
std::vector<double> attention_by_hand(const Problem& problem, const AttentionInputs& inputs);

// The same values rounded to dtype in the problem's layout: a correct kernel's output.
std::vector<std::byte> output_of(const Problem& problem, const std::vector<double>& values);

}  // namespace attnscope::check
