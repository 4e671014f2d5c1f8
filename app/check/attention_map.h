#pragma once
#include "core/problem.h"
#include "core/result.h"
#include "core/view.h"

namespace attnscope::check {

// The attention matrix of one head, softmax(scale · Q·Kᵀ) in fp64 as in the reference: rows are the query rows
// [row_begin, row_end), columns are keys. At most request.width × request.height texels; a texel that covers several
// elements holds the largest, or NaN if there is one. A masked key, and every key of a fully masked row, is 0. Makes
// the inputs of that head only. Uses `threads` threads (0: one per core), all but the caller's at the lowest priority.
// Failure (Stage::input) for a batch, head or rows that the problem does not have, or for more than 4 MB of texels.
Result<Tile> make_attention_tile(const ViewRequest& request, const Problem& problem, int threads = 0);

}  // namespace attnscope::check
