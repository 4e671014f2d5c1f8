#include "catalog/host_values.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostBeforeBraces = 2000;     // tokens between a value in braces and the begin of its block
constexpr size_t kMostOfConstant = 60;         // tokens of the value
constexpr size_t kMostOfLoop = 1000;           // tokens of a loop without braces
constexpr size_t kMostOfList = 250;            // tokens of a list of parameters before a default
constexpr size_t kMostBeforeCounter = 8;       // tokens between `for (` and the counter's =
constexpr size_t kMostChangesLookedAt = 1000;  // of a name; with more its value is unknown

// For `for (int i = 0;`, at its =: the index of the parenthesis that closes the header; otherwise the tokens' number.
size_t loop_of_counter(const HostToken& place) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  for (size_t open = i; open > 0 && open + kMostBeforeCounter > i; --open)
    if (place.is(open, "(")) return place.is(open - 1, "for") ? brackets.closing(open) : tokens.size();
  return tokens.size();
}

// Byte offset of the loop's end; `header`: the parenthesis that closes its header.
size_t end_of_loop(const HostToken& place, size_t header) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  size_t end = header + 1;
  if (place.is(end, "{")) {
    end = brackets.closing(end);
  } else {
    // One statement: to its ; or the } of its block, and on where else follows.
    for (size_t looked_at = 0; end < tokens.size(); ++looked_at) {
      if (looked_at == kMostOfLoop) return tokens[header].at;
      const bool block = place.is(end, "{");
      if (block || place.is(end, "(")) end = brackets.closing(end);
      if ((block || place.is(end, ";")) && !place.is(end + 1, "else")) break;
      ++end;
    }
  }
  return end < tokens.size() ? tokens[end].at : end_of_block;
}

// The type of `const float a = 1, b = 2;`, at either =.
NumberKind declared_kind(const HostToken& place) {
  const std::vector<CppToken>& tokens = place.tokens;
  static const std::set<std::string_view> modifiers{"const", "constexpr", "static", "inline", "signed"};
  if (place.i < 2) return NumberKind::unknown;
  size_t last = place.i - 2;  // of the type
  if (place.is(last, ",")) {  // the name after an earlier one: its type is the statement's first word
    size_t begin = last;
    while (begin > 0 && !place.is(begin - 1, ";") && !place.is(begin - 1, "{") && !place.is(begin - 1, "}")) {
      const bool bracket = place.is(begin - 1, ")") || place.is(begin - 1, "(") || place.is(begin - 1, "]");
      if (bracket || place.is(begin - 1, ">") || place.i - begin > kMostOfConstant) return NumberKind::unknown;
      if (tokens[begin - 1].kind == CppToken::Kind::line) break;
      --begin;
    }
    for (last = begin; place.word(last + 1) && place.word(last + 2);) ++last;
  }
  NumberKind kind = NumberKind::unknown;
  for (size_t i = last + 1; i > 0 && place.word(i - 1); --i) {
    const std::string_view word = tokens[i - 1].text;
    if (word == "float" || word == "double") return NumberKind::floating;
    if (word == "auto") return NumberKind::as_written;
    if (is_whole_type(word))
      kind = NumberKind::whole;
    else if (!modifiers.contains(word))
      return NumberKind::unknown;
  }
  return kind;
}

// True for the = of a default, in a function's or a template's list: f(int n = 4), template <int N = 4, int M = 8>.
bool is_default(const HostToken& place) {
  static const std::set<std::string_view> statements{"for", "if", "while", "switch"};
  size_t depth = 0;
  for (size_t at = place.i; at > 1 && at + kMostOfList > place.i; --at) {
    if (place.is(at - 1, ";") || place.is(at - 1, "{") || place.is(at - 1, "}")) return false;
    if (place.is(at - 1, "template")) return place.is(at, "<");
    if (place.is(at - 1, ")")) ++depth;
    if (place.is(at - 1, "(") && depth-- == 0)
      return place.word(at - 2) && !statements.contains(place.tokens[at - 2].text);
  }
  return false;
}

// At the = of `case 1: x = 2;`, `y = x = 2;`, `if ((x = f()))`, or of a statement behind #else.
bool changes_within(const HostToken& place) {
  if (place.i < 2) return false;
  const CppToken& before = place.tokens[place.i - 2];
  return before.is(":") || before.is("=") || before.is("(") || before.kind == CppToken::Kind::line;
}

// At the = of `bytes += n * 4;`: the new value of a whole number that the same block declares, as `bytes + (n * 4)`.
std::optional<std::string> sum_at(const HostToken& place, const HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  if (i < 3 || !place.is(i - 1, "+") || !place.word(i - 2)) return std::nullopt;
  if (!place.is(i - 3, ";") && !place.is(i - 3, "{") && !place.is(i - 3, "}")) return std::nullopt;
  const std::string name(tokens[i - 2].text);
  const auto* const before = values.constants.last(name);
  if (!before || before->end != end_of_block || end_of_block == SIZE_MAX) return std::nullopt;
  const auto kind = values.kinds.find(before->at);
  if (kind == values.kinds.end() || kind->second != NumberKind::whole) return std::nullopt;
  // A counter of a loop is known in the same block, but each turn changes it.
  const auto sign = std::ranges::lower_bound(tokens, before->at, {}, &CppToken::at);
  if (sign == tokens.end() || !sign->is("=")) return std::nullopt;
  size_t end = i + 1;
  for (; end < tokens.size() && !place.is(end, ";"); ++end) {
    if (place.is(end, "{") || place.is(end, ",") || place.is(end, "=") || end - i >= kMostOfConstant)
      return std::nullopt;
    if (place.is(end, "(")) end = brackets.closing(end);
  }
  const std::string added = text_of(tokens, i + 1, end);
  return added.empty() || end >= tokens.size() ? std::nullopt : std::optional(name + " + (" + added + ")");
}

}  // namespace

bool is_whole_type(std::string_view word) {
  static const std::set<std::string_view> whole{"int",     "unsigned", "long",     "short",   "size_t",
                                                "int32_t", "int64_t",  "uint32_t", "uint64_t"};
  return whole.contains(word);
}

void SourceChanges::add(const std::string& name, size_t at, size_t end, size_t since) {
  std::erase_if(loops_, [&](const One& loop) { return loop.end <= at; });
  std::vector<One>& own = all_[name];
  const auto loop = std::ranges::find_if(loops_, [&](const One& one) { return one.at > since && one.at < at; });
  if (loop != loops_.end()) {
    const auto place = std::ranges::lower_bound(own, loop->at, {}, &One::at);
    if (place == own.end() || place->at != loop->at) own.insert(place, {loop->at, loop->at});
  }
  own.push_back({at, end});
}

bool SourceChanges::any(const std::string& name, size_t from, size_t to) const {
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  size_t looked_at = 0;
  for (auto one = std::ranges::upper_bound(found->second, from, {}, &One::at);
       one != found->second.end() && one->at < to; ++one)
    if (one->end < to || ++looked_at == kMostChangesLookedAt) return true;
  return false;
}

void change(HostValues& values, const std::string& name, size_t at, size_t end) {
  const auto* const before = values.constants.last(name);
  values.changes.add(name, at, end, before ? before->at : 0);
}

std::optional<SourceConstant> read_constant(const HostToken& place, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  if (place.is(i + 1, "=")) return std::nullopt;
  const std::string name(tokens[i - 1].text);
  const bool branch = i >= 2 && (place.is(i - 2, ")") || place.is(i - 2, "else"));  // if (…) x = …;
  const bool statement = i >= 2 && (place.is(i - 2, ";") || place.is(i - 2, "{") || place.is(i - 2, "}"));
  const bool counter = i >= 3 && place.is(i - 2, "(") && place.is(i - 3, "for");  // of a loop, declared before it
  if (i > 2 && place.is(i - 2, ".") && place.word(i - 3))                         // grid.x = 4;
    change(values, std::string(tokens[i - 3].text), tokens[i].at, tokens[i].at);
  const auto unknown = [&]() -> std::optional<SourceConstant> {
    if (branch || statement || (!counter && changes_within(place))) change(values, name, tokens[i].at, tokens[i].at);
    return std::nullopt;
  };
  size_t end = i + 1;
  for (; end < tokens.size() && !place.is(end, ";") && !place.is(end, ","); ++end) {
    if (place.is(end, "{") || place.is(end, ")") || end - i >= kMostOfConstant) return unknown();
    if (place.is(end, "(")) end = brackets.closing(end);
  }
  const bool pointer =
      i >= 3 && place.is(i - 2, "*") && (place.word(i - 3) || place.is(i - 3, "*") || place.is(i - 3, ">"));
  const bool assigned = i >= 2 && !branch && (place.word(i - 2) || place.is(i - 2, ",") || pointer || statement);
  if ((!assigned && !counter) || end - i >= kMostOfConstant) return unknown();
  const std::string value = text_of(tokens, i + 1, end);
  // A counter has its first value from the loop's body on, where a launch is the loop's first.
  const NumberKind kind = declared_kind(place);
  if (const size_t header = loop_of_counter(place); header < tokens.size()) {
    values.kinds.emplace(tokens[header].at, kind);
    values.constants.add(name, {tokens[header].at, end_of_loop(place, header), value});
    return std::nullopt;
  }
  // A caller may pass another value, so a default is known nowhere.
  const size_t known_until = !statement && is_default(place) ? tokens[i].at : end_of_block;
  if (statement) change(values, name, tokens[i].at, end_of_block);
  values.constants.add(name, {tokens[i].at, known_until, value, !statement});
  values.kinds.emplace(tokens[i].at, kind);
  return SourceConstant{name, value};
}

namespace {

// True for a token in a function's block, and not in that of a class, as far as a look at the block's begin says.
bool is_in_function(const HostToken& place) {
  static const std::set<std::string_view> before{")",        "else",     "do", "try", "const",
                                                 "noexcept", "override", "{",  "}",   ";"};
  size_t closed = 0;  // blocks that are over
  for (size_t at = place.i; at > 1 && at + kMostBeforeBraces > place.i; --at) {
    if (place.is(at - 1, "}")) ++closed;
    if (!place.is(at - 1, "{")) continue;
    if (closed == 0) return before.contains(place.tokens[at - 2].text);
    --closed;
  }
  return false;
}

}  // namespace

void read_braces(const HostToken& place, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  const size_t close = brackets.closing(i);
  if (i < 2 || !place.word(i - 1) || !place.word(i - 2) || close >= tokens.size() || close - i >= kMostOfConstant)
    return;
  if (i + 1 == close || !place.is(close + 1, ";") || declared_kind(place) != NumberKind::whole) return;
  if (loop_of_counter(place) < tokens.size() || !is_in_function(place)) return;
  for (size_t at = i + 1; at < close; ++at)
    if (place.is(at, ",") || place.is(at, ";") || place.is(at, "{")) return;
  values.constants.add(std::string(tokens[i - 1].text), {tokens[i].at, end_of_block, text_of(tokens, i + 1, close)});
  values.kinds.emplace(tokens[i].at, NumberKind::whole);
}

void read_change(const HostToken& place, HostValues& values) {
  const std::vector<CppToken>& tokens = place.tokens;
  const size_t i = place.i;
  static const std::set<std::string_view> operators{"+", "-", "*", "/", "%", "&", "|", "^", "<", ">"};
  size_t name = SIZE_MAX;
  if (place.is(i, "=") && operators.contains(tokens[i - 1].text)) {
    const bool shift =
        (place.is(i - 1, "<") || place.is(i - 1, ">")) && tokens[i - 2].text == tokens[i - 1].text && i > 2;
    if (!shift && (place.is(i - 1, "<") || place.is(i - 1, ">"))) return;  // a comparison
    name = shift ? i - 3 : i - 2;
  } else if (!place.is(i, "=") && tokens[i - 1].text == tokens[i].text) {
    name = place.word(i + 1) && !place.word(i - 2) ? i + 1 : i - 2;
  }
  if (name >= tokens.size() || !place.word(name)) return;
  if (auto sum = sum_at(place, values)) {
    const std::string its(tokens[name].text);
    change(values, its, tokens[i].at, place.end_of_block);
    values.constants.add(its, {tokens[i].at, place.end_of_block, std::move(*sum), false});
    values.kinds.emplace(tokens[i].at, NumberKind::whole);
    return;
  }
  change(values, std::string(tokens[name].text), tokens[i].at, tokens[i].at);
  if (name > 1 && place.is(name - 1, ".") && place.word(name - 2))  // grid.x /= 4;
    change(values, std::string(tokens[name - 2].text), tokens[i].at, tokens[i].at);
}

std::string pitched(const std::string& bytes) {
  constexpr int kPitch = 512;  // bytes, on each device of compute capability 7 to 9
  return fmt::format("(({}) + {}) / {} * {}", bytes, kPitch - 1, kPitch, kPitch);
}

void read_pitch(const HostToken& place, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  const size_t close = brackets.closing(i + 1);
  if (!place.is(i, "cudaMallocPitch") || close >= tokens.size() || close - i > kMostOfConstant) return;
  const auto arguments = parts_of(tokens, brackets, i + 2, close);
  if (arguments.size() != 4) return;
  const auto [pitch, behind] = arguments[1];
  const auto [width, end] = arguments[2];
  if (behind != pitch + 2 || !place.is(pitch, "&") || !place.word(pitch + 1)) return;
  // Behind the &, which may give the name any value.
  values.constants.add(std::string(tokens[pitch + 1].text),
                       {tokens[width].at, end_of_block, pitched(text_of(tokens, width, end)), false});
  values.kinds.emplace(tokens[width].at, NumberKind::whole);
}

void read_reference(const HostToken& place, HostValues& values) {
  const std::vector<CppToken>& tokens = place.tokens;
  const size_t i = place.i;
  const auto changed = [&](size_t name) {
    if (place.word(name)) change(values, std::string(tokens[name].text), tokens[i].at, tokens[i].at);
  };
  if (place.is(i, "&")) {
    if (!place.is(i + 2, ")") && !place.is(i + 2, ",")) return;
    if (i < 2 || !(place.is(i - 1, "(") || place.is(i - 1, ",") || (place.is(i - 1, ")") && place.is(i - 2, "*"))))
      return;             // a & b, or a reference that is declared
    size_t open = i - 1;  // of the call's arguments
    bool first = true;    // of them
    for (size_t depth = 0; open > 0 && open + kMostOfConstant > i; --open) {
      if (place.is(open, ";") || place.is(open, "{") || place.is(open, "}")) return;
      if (place.is(open, ")")) ++depth;
      if (place.is(open, "(") && depth-- == 0) break;
      if (place.is(open, ",") && depth == 0) first = false;
    }
    if (open == 0 || !place.is(open, "(") || !(place.word(open - 1) || place.is(open - 1, ">"))) return;
    // A pointer that gets memory stays the same pointer.
    if (!(first && tokens[open - 1].text.starts_with("cudaMalloc"))) changed(i + 1);
    return;
  }
  for (size_t at = i + 1; at + 2 < tokens.size() && at < i + kMostOfConstant && !place.is(at, ";"); ++at)
    if (place.is(at, ">") && place.is(at + 1, ">")) changed(at + 2);
}

namespace {

constexpr size_t kMostBehind = 4000;  // tokens from a dim3's declaration to its members' values

// Where a dim3 is named as a whole: does that leave it as it is, as a launch or a copy does?
bool keeps_dims(const HostToken& place, size_t at) {
  const bool ends = place.is(at + 1, ";") || place.is(at + 1, ",");
  if (place.is(at - 1, "=")) return ends && !place.is(at - 3, "&");
  const bool second = place.is(at - 1, ",") && place.is(at - 3, "<") && place.is(at - 4, "<");
  return place.is(at - 1, "<") || second || (place.is(at - 1, ",") && place.is(at + 1, ">"));
}

// `grid.x = n / 256;` of a `dim3 grid;` or a `dim3 grid(1, 2);`, up to where something else may set a member: each is
// set at most once, in the dim3's own block.
void read_dim_members(const HostToken& place, size_t name, std::vector<std::string> sizes, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  sizes.resize(3, "1");
  std::vector<bool> set(3);
  size_t last = 0;
  int depth = 0;
  const size_t end = std::min(tokens.size(), name + kMostBehind);
  const auto add = [&](size_t until) {
    if (last != 0 && last < until) values.dims.add(std::string(place.tokens[name].text), {last, until, sizes});
  };
  for (size_t at = name + 1; at < end && tokens[at].at < end_of_block; ++at) {
    if (place.is(at, "{")) ++depth;
    if (place.is(at, "}")) --depth;
    if (!place.is(at, tokens[name].text)) continue;
    if (!place.is(at + 1, ".")) {
      if (keeps_dims(place, at)) continue;
      // A call may change what is passed to it, for the places after the call.
      size_t until = at;
      const bool passed = (place.is(at - 1, "(") || place.is(at - 1, ",")) && !place.is(at + 1, "=");
      while (passed && until + 1 < end && !place.is(until, ";")) ++until;
      return add(tokens[until].at);
    }
    const bool sum = place.is(at + 4, "=") && !place.is(at + 3, "<") && !place.is(at + 3, ">") &&
                     !place.is(at + 3, "=") && !place.is(at + 3, "!");
    const bool twice =
        place.is(at + 4, place.is(at + 3, "+") ? "+" : "-") && (place.is(at + 3, "+") || place.is(at + 3, "-"));
    const bool before = place.is(at - 1, "&") || (at > 1 && place.is(at - 1, tokens[at - 2].text) &&
                                                  (place.is(at - 1, "+") || place.is(at - 1, "-")));
    if (sum || twice || before) return;
    if (!place.is(at + 3, "=") || place.is(at + 4, "=")) continue;
    if (!place.is(at - 1, ";") && !place.is(at - 1, "{") && !place.is(at - 1, "}")) return;  // if (...) grid.x = 2;
    const size_t axis = at + 2 < end ? std::string_view("xyz").find(tokens[at + 2].text) : 3;
    size_t close = at + 4;
    while (close < end && !place.is(close, ";")) ++close;
    if (axis > 2 || depth != 0 || set[axis] || close == end) return;
    sizes[axis] = text_of(tokens, at + 4, close);
    set[axis] = true;
    last = tokens[close].at;
  }
  add(end_of_block);
}

// The dim3 whose name is token `at` has the sizes in the brackets at `open`. Returns where these end.
size_t read_dim(const HostToken& place, size_t at, size_t open, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  const size_t close = brackets.closing(open);
  std::vector<std::string> sizes;
  for (const auto& [begin, end] : parts_of(tokens, brackets, open + 1, close))
    sizes.push_back(text_of(tokens, begin, end));
  values.dims.add(std::string(tokens[at].text), {tokens[at].at, end_of_block, sizes});
  if (sizes.size() <= 3) read_dim_members(place, at, std::move(sizes), values);
  return close;
}

}  // namespace

void read_dims(const HostToken& place, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  if (i > 2 && place.is(i - 1, "=") && place.word(i - 2) && (place.is(i - 3, "auto") || place.is(i - 3, "const"))) {
    if (place.is(i + 1, "{")) read_dim(place, i - 2, i + 1, values);  // one in parentheses is a value of the name
    return;
  }
  for (size_t at = i + 1; at < tokens.size() && !place.is(at, ";"); ++at) {
    if (place.word(at) && is_dims_type(tokens[at].text)) return;  // the other one is read from there
    if (!place.word(at) || place.is(at, "const")) continue;
    size_t open = at + 1;
    if (place.is(open, "=")) ++open;
    if (open < tokens.size() && is_dims_type(tokens[open].text)) ++open;
    if (place.is(at + 1, ";") || place.is(at + 1, ",")) {
      read_dim_members(place, at, {}, values);
      continue;
    }
    if (!place.is(open, "(") && !place.is(open, "{")) return;
    at = read_dim(place, at, open, values);
  }
}

}  // namespace attnscope::catalog
