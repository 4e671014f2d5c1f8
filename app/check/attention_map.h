#pragma once
#include "core/problem.h"
#include "core/result.h"
#include "core/view.h"

namespace attnscope::check {

// The attention matrix of one head, softmax(scale · Q·Kᵀ) in fp64 as in the reference. Rows are the query rows
// [row_begin, row_end), columns are keys. It has at most request.width × request.height texels; a texel that covers
// several elements holds the largest, or NaN if one of them is NaN. Masked keys, and all keys of a fully masked row,
// are 0. Makes only that head's inputs. Uses `threads` threads (0: one per core), all but the caller's at the lowest
// priority. Failure (Stage::input) for a batch, head or rows that the problem does not have, or for more than 4 MB of
// texels.
Result<Tile> make_attention_tile(const ViewRequest& request, const Problem& problem, int threads = 0);

}  // namespace attnscope::check
