#pragma once
#include <vector>

#include "check/inputs.h"

namespace attnscope::check {

// An attention written for reading, in long double, sharing no code with app/check but the element's place: what the
// fast reference is held against. [batch, heads, seq_q, head_dim] in that order whatever the layout.
std::vector<double> attention_by_hand(const Problem& problem, const AttentionInputs& inputs);

// The same values rounded to dtype in the problem's layout: an output that a correct kernel could give.
std::vector<std::byte> output_of(const Problem& problem, const std::vector<double>& values);

}  // namespace attnscope::check
