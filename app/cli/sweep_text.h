#pragma once
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "sweep/board.h"

namespace attnscope::cli {

// "  192  limit: asks 57,376 B …": one line per reason, the most frequent first.
std::string reasons_text(const std::vector<sweep::Rejected>& rejected);
Json to_json(const sweep::Rejected& rejected);

std::string text_of(const sweep::Board& board, const sweep::Plan& plan, const sweep::Counts& counts, bool all);
Json to_json(const sweep::Board& board, const sweep::Plan& plan, const sweep::Counts& counts);

}  // namespace attnscope::cli
