#pragma once
#include <string>
#include <vector>

#include "core/softmax_steps.h"
#include "session/snapshot.h"

namespace attnscope::ui {

// Two runs of a kernel with three lines; each has a listing unless `listed` is false.
session::Snapshot snapshot_with_code(bool listed = true);

// From the live run of snapshot_with_code(): its first instruction reads a row and then a column of K_tile, 16 bytes a
// lane; the third stores a row.
session::Snapshot with_banks(session::Snapshot snapshot);
// Its third instruction is a product; the EXIT is not.
session::Snapshot with_a_product(session::Snapshot snapshot);

// The timeline that the Timeline panel asks for first, of the live run.
session::Snapshot with_timeline(session::Snapshot snapshot, const SmTimeline& timeline);

// A warning with a place and a proposal, of no rule.
Finding waiting_warps();
// Two runs with terms; the second one has `found`.
session::Snapshot snapshot_with_terms(const std::vector<Finding>& found = {});

// Two runs; the live one has the softmax of row 0.
session::Snapshot snapshot_with_softmax();
// The key of that row's listing.
std::string softmax_key(const session::Snapshot& snapshot);
// The same, with that row of A too, whose tiles of the attention matrix are twice as high.
session::Snapshot snapshot_with_softmax_of_both();
// The key of A's row.
std::string softmax_key_of_a(const session::Snapshot& snapshot);
// Two runs on a GPU, each with its clocks, the live one with its simulation too. A takes 17 clocks.
session::Snapshot snapshot_with_clocks_of_both();
// Two tiles of four keys; the second raises the maximum.
SoftmaxSteps two_softmax_tiles();

}  // namespace attnscope::ui
