#include "explain/helpers.h"

#include <algorithm>

#include "core/code_file.h"
#include "core/cpp_tokens.h"
#include "explain/words.h"

namespace attnscope::explain {
namespace {

using Tokens = std::vector<CppToken>;
using Kind = CppToken::Kind;

struct Body {
  std::string_view name;
  size_t first = 0, end = 0;  // tokens
};

// The function that begins with the `__device__` before `i`; without a name for a variable or a declaration.
Body body_at(const Tokens& tokens, const CppBrackets& brackets, size_t i) {
  for (; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("=")) return {};
    if (!tokens[i + 1].is("(") || tokens[i].kind != Kind::word) continue;
    const size_t close = brackets.closing(i + 1);
    if (tokens[i].text.starts_with("__")) {  // an attribute with arguments
      i = close;
      continue;
    }
    if (close + 1 >= tokens.size() || !tokens[close + 1].is("{")) return {};
    return {tokens[i].text, close + 1, std::min(brackets.closing(close + 1), tokens.size())};
  }
  return {};
}

template <class Holds>
bool any_token(const Tokens& tokens, const Body& body, Holds holds) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(body.first),
                     tokens.begin() + static_cast<std::ptrdiff_t>(body.end), holds);
}

}  // namespace

std::vector<UnusedHelper> unused_helpers(const Kernel& kernel) {
  std::vector<UnusedHelper> unused;
  if (is_machine_code(kernel.source)) return unused;
  const Tokens tokens = cpp_tokens(kernel.source);
  const CppBrackets brackets(tokens);
  const SourceLines lines(kernel.source_name, kernel.source);
  const Uses uses(tokens);
  int64_t line = 1;  // of `counted`, a place in the source
  size_t counted = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__device__")) continue;
    const Body body = body_at(tokens, brackets, i + 1);
    if (body.name.empty() || body.name == "operator" || uses.of(body.name) > 1) continue;
    line += std::ranges::count(std::string_view(kernel.source).substr(counted, tokens[i].at - counted), '\n');
    counted = tokens[i].at;
    unused.push_back({std::string(body.name), lines.place_of(line),
                      any_token(tokens, body, [](const CppToken& one) { return one.is("^"); }),
                      any_token(tokens, body, [](const CppToken& one) {  // wmma, or PTX
                        return one.is("mma_sync") || (one.kind == Kind::text && one.text.find("mma.") != one.text.npos);
                      })});
  }
  std::ranges::stable_partition(unused, [&](const UnusedHelper& one) { return one.place.file == kernel.source_name; });
  return unused;
}

}  // namespace attnscope::explain
