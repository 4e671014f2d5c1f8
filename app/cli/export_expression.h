#pragma once
#include <map>
#include <string>

#include "core/result.h"

namespace attnscope::cli {

enum class Language { cpp, python };

// Translates a manifest's expression (core/expression.h: whole numbers, + - * / % comparisons && || ?: min max
// ceil_div) to C++ (int64_t) or Python. Names in `constants` are replaced by their values. An invalid expression is
// Stage::internal, because a manifest's expressions are evaluated when it is loaded.
Result<std::string> expression_in(Language language, const std::string& expression,
                                  const std::map<std::string, int64_t>& constants);

}  // namespace attnscope::cli
