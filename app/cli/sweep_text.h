#pragma once
#include <string>

#include "core/json_fwd.h"
#include "sweep/board.h"

namespace attnscope::cli {

std::string text_of(const sweep::Board& board, const sweep::Plan& plan, const sweep::Counts& counts, bool all);
Json to_json(const sweep::Board& board, const sweep::Plan& plan, const sweep::Counts& counts);

}  // namespace attnscope::cli
