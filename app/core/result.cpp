#include "core/result.h"

#include "core/words.h"

namespace attnscope {

std::string_view to_string(Stage stage) { return word_of(Words<Stage>::table, stage); }
Result<Stage> parse_stage(std::string_view text) { return value_of(Words<Stage>::table, text); }

}  // namespace attnscope
