#pragma once
#include <cstddef>
#include <span>

#include "check/reference.h"
#include "core/result.h"
#include "core/view.h"

namespace attnscope::check {

// Failure (Stage::input) for a batch, head or rows that the problem does not have.
Result<void> check_view(const ViewRequest& request, const Problem& problem);
// Failure if the texels do not fit into the request's target, or into 4 MB on the worker's pipe.
Result<void> check_texels(const ViewRequest& request, int64_t width, int64_t height);
// A tile of `width` × `height` texels with the same value; either all rows are ready or none.
Tile blank_tile(const ViewRequest& request, int64_t width, int64_t height, float value, bool ready);

// A map of one head. Rows are the query rows [row_begin, row_end), columns are head_dim. It has at most request.width ×
// request.height texels (0, or more than there are elements: one texel per element). A texel that covers several
// elements holds the value of largest magnitude, or NaN if one of them is NaN. An error is |output - reference|: NaN if
// only one of them is finite, 0 if both are the same NaN or Inf.
//
// `reference` may be null (an output map needs none). A row that is all poison is not computed yet; a row that was not
// sampled has no reference. ready_rows is 1 if at least one row under a texel row has a reference (output map: any row)
// and all such rows are computed. The texels of a row that is not ready hold Tile::kNotYet. Failure (Stage::input) for
// a batch, head or rows that the problem does not have, or for more than 4 MB of texels.
Result<Tile> make_tile(const ViewRequest& request, const Problem& problem, std::span<const std::byte> output,
                       const Reference* reference);

}  // namespace attnscope::check
