#include "compile/implied_headers.h"

#include <set>
#include <string_view>
#include <vector>

#include "compile/builtin_headers.h"
#include "core/cpp_tokens.h"

namespace attnscope::compile {

std::string with_implied_headers(const std::string& source) {
  // From <stdlib.h>, <math.h>, and <limits.h> and <float.h>, which g++'s own headers include; and everything that NVRTC
  // has in namespace std.
  static const std::set<std::string_view> implied{
      "int8_t",      "int16_t",     "int32_t",     "int64_t",         "uint8_t",     "uint16_t",    "uint32_t",
      "uint64_t",    "__FLT_MAX__", "__FLT_MIN__", "__FLT_EPSILON__", "__DBL_MAX__", "__DBL_MIN__", "__DBL_EPSILON__",
      "__INT_MAX__", "uint",        "ulong",       "ushort",          "INFINITY",    "NAN",         "HUGE_VAL",
      "HUGE_VALF",   "M_E",         "M_PI",        "M_LN2",           "M_LOG2E",     "M_PI_2",      "M_PI_4",
      "M_1_PI",      "M_2_PI",      "M_SQRT2",     "M_LN10",          "INT_MAX",     "INT_MIN",     "UINT_MAX",
      "LLONG_MAX",   "CHAR_BIT",    "FLT_MAX",     "FLT_MIN",         "FLT_EPSILON", "DBL_MAX",     "DBL_MIN",
      "DBL_EPSILON"};
  const auto used = [&](const auto& self, const std::vector<CppToken>& tokens, bool in_line) -> bool {
    for (size_t i = 0; i < tokens.size(); ++i) {
      // A `##…` within a line is not a line of its own.
      const bool line = tokens[i].kind == CppToken::Kind::line && !in_line;
      if (line && self(self, cpp_tokens(tokens[i].text.substr(1)), true)) return true;
      if (tokens[i].kind != CppToken::Kind::word) continue;
      const bool of_std = tokens[i].is("std") && i + 1 < tokens.size() && tokens[i + 1].is(":");
      if (of_std || implied.contains(tokens[i].text)) return true;
    }
    return false;
  };
  if (!used(used, cpp_tokens(source), false)) return source;
  return "#include <" + std::string(kImpliedHeader) + ">\n#line 1\n" + source;
}

}  // namespace attnscope::compile
