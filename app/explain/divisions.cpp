#include "explain/divisions.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/code_file.h"
#include "core/cpp_tokens.h"
#include "core/source_lines.h"

namespace attnscope::explain {
namespace {

using Kind = CppToken::Kind;
using Tokens = std::vector<CppToken>;

bool is_division(const CppToken& token) { return token.kind == Kind::mark && (token.is("/") || token.is("%")); }

// The lines of tokens, counted from 1.
std::vector<int> lines_of(std::string_view source, const Tokens& tokens) {
  std::vector<int> lines;
  int line = 1;
  size_t at = 0;
  for (const CppToken& token : tokens) {
    line += static_cast<int>(std::ranges::count(source.substr(at, token.at - at), '\n'));
    at = token.at;
    lines.push_back(line);
  }
  return lines;
}

// Macros whose text divides.
bool is_dividing_macro(const Tokens& tokens, std::string_view name) {
  return std::ranges::any_of(tokens, [&](const CppToken& token) {
    if (token.kind != Kind::line) return false;
    const size_t at = token.text.find(name);
    return token.text.find("define") < at && at != token.text.npos &&
           token.text.find_first_of("/%", at) != token.text.npos;
  });
}

// How many divisions the text has. A divisor that is a number or a knob is known when the kernel is compiled, and such
// a division becomes products and shifts.
int divisions(const Kernel& kernel, const Tokens& tokens, const std::vector<int>& lines, int line) {
  const auto is_knob = [&](const CppToken& token) {
    return std::ranges::any_of(kernel.knobs, [&](const Knob& knob) { return token.is(knob.name); });
  };
  int found = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (lines[i] != line) continue;
    if (tokens[i].kind == Kind::word && is_dividing_macro(tokens, tokens[i].text)) ++found;
    if (!is_division(tokens[i])) continue;
    const size_t divisor = i + 1 < tokens.size() && tokens[i + 1].is("=") ? i + 2 : i + 1;
    const bool known = divisor < tokens.size() && (tokens[divisor].kind == Kind::number || is_knob(tokens[divisor]));
    if (!known) ++found;
  }
  return found;
}

struct Loop {
  size_t word = 0, close = 0, end = 0;  // tokens: `for` or `while`, the bracket behind its header, its last
};

std::optional<Loop> loop_at(const Tokens& tokens, const CppBrackets& brackets, size_t i) {
  const bool begins = tokens[i].kind == Kind::word && (tokens[i].is("for") || tokens[i].is("while"));
  if (!begins || i + 1 >= tokens.size() || !tokens[i + 1].is("(")) return std::nullopt;
  Loop loop{i, brackets.closing(i + 1), 0};
  if (loop.close + 1 >= tokens.size()) return std::nullopt;
  if (tokens[loop.close + 1].is("{")) {
    loop.end = brackets.closing(loop.close + 1);
  } else {
    const auto last = std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(loop.close), tokens.end(),
                                   [](const CppToken& token) { return token.is(";"); });
    loop.end = size_t(last - tokens.begin());
  }
  return loop.end < tokens.size() ? std::optional(loop) : std::nullopt;
}

// True for `i += stride` and `i -= stride`, where `stride` is not only a number.
bool has_step(const Tokens& tokens, size_t first, size_t end) {
  for (size_t i = first; i + 2 < end; ++i)
    if ((tokens[i].is("+") || tokens[i].is("-")) && tokens[i + 1].is("=") && tokens[i + 2].kind != Kind::number)
      return true;
  return false;
}

}  // namespace

std::optional<int> loop_whose_runs_are_counted(const Kernel& kernel, const std::string& file, int line,
                                               bool divides_floats) {
  if (is_machine_code(kernel.source)) return std::nullopt;
  const SourceLines places(kernel.source_name, kernel.source);
  const auto own = static_cast<int>(places.text_line(file, line));
  if (own <= 0) return std::nullopt;
  const Tokens tokens = cpp_tokens(kernel.source);
  const std::vector<int> lines = lines_of(kernel.source, tokens);
  if (divisions(kernel, tokens, lines, own) > (divides_floats ? 1 : 0)) return std::nullopt;
  const CppBrackets brackets(tokens);
  std::optional<int> innermost;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto loop = loop_at(tokens, brackets, i);
    if (!loop || own < lines[i] || own > lines[loop->end]) continue;
    const bool is_for = tokens[i].is("for");
    if (has_step(tokens, is_for ? i : loop->close, is_for ? loop->close : loop->end)) innermost = lines[i];
  }
  if (!innermost) return std::nullopt;
  return static_cast<int>(places.place_of(*innermost).line);
}

}  // namespace attnscope::explain
