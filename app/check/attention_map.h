#pragma once
#include "core/problem.h"
#include "core/result.h"
#include "core/view.h"

namespace attnscope::check {

// The attention matrix of one head, softmax(scale · Q·Kᵀ) in fp64 as the reference computes it: rows are query rows
// [row_begin, row_end), columns are keys. At most request.width × request.height texels; one that covers several
// elements holds the largest of them, NaN wins. A masked key, and every key of a fully masked row, is 0. Inputs are
// made here, of that head alone. Works on `threads` threads (0: one a core), all but the caller's at the lowest
// priority. Failure (Stage::input) for a batch, head or rows that the problem does not have or more than 4 MB of
// texels.
Result<Tile> make_attention_tile(const ViewRequest& request, const Problem& problem, int threads = 0);

}  // namespace attnscope::check
