#include "catalog/host_values.h"

#include <set>
#include <string_view>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostOfConstant = 60;         // tokens of the value
constexpr size_t kMostOfLoop = 1000;           // tokens of a loop without braces
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
    for (size_t looked_at = 0; end < tokens.size() && !place.is(end, ";"); ++looked_at) {
      if (looked_at == kMostOfLoop) return tokens[header].at;
      end = place.is(end, "{") || place.is(end, "(") ? brackets.closing(end) : end + 1;
    }
  }
  return end < tokens.size() ? tokens[end].at : end_of_block;
}

}  // namespace

bool SourceChanges::any(const std::string& name, size_t from, size_t to) const {
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  size_t looked_at = 0;
  for (auto one = std::ranges::upper_bound(found->second, from, {}, &One::at);
       one != found->second.end() && one->at < to; ++one)
    if (one->end < to || ++looked_at == kMostChangesLookedAt) return true;
  return false;
}

std::optional<SourceConstant> read_constant(const HostToken& place, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  if (place.is(i + 1, "=")) return std::nullopt;
  size_t end = i + 1;
  for (; end < tokens.size() && !place.is(end, ";") && !place.is(end, ","); ++end) {
    if (place.is(end, "{") || place.is(end, ")") || end - i >= kMostOfConstant) return std::nullopt;
    if (place.is(end, "(")) end = brackets.closing(end);
  }
  const bool branch = i >= 2 && (place.is(i - 2, ")") || place.is(i - 2, "else"));  // if (…) x = …;
  if (branch) values.changes.add(std::string(tokens[i - 1].text), tokens[i].at, tokens[i].at);
  const bool statement = i >= 2 && (place.is(i - 2, ";") || place.is(i - 2, "{") || place.is(i - 2, "}"));
  const bool pointer =
      i >= 3 && place.is(i - 2, "*") && (place.word(i - 3) || place.is(i - 3, "*") || place.is(i - 3, ">"));
  const bool assigned = i >= 2 && !branch && (place.word(i - 2) || place.is(i - 2, ",") || pointer || statement);
  const bool counter = i >= 3 && place.is(i - 2, "(") && place.is(i - 3, "for");  // of a loop, declared before it
  if ((!assigned && !counter) || end - i >= kMostOfConstant) return std::nullopt;
  const std::string name(tokens[i - 1].text), value = text_of(tokens, i + 1, end);
  // A counter has its first value from the loop's body on, where a launch is the loop's first.
  if (const size_t header = loop_of_counter(place); header < tokens.size()) {
    values.constants.add(name, {tokens[header].at, end_of_loop(place, header), value});
    return std::nullopt;
  }
  values.constants.add(name, {tokens[i].at, end_of_block, value, !statement});
  if (statement) values.changes.add(name, tokens[i].at, end_of_block);
  return SourceConstant{name, value};
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
  if (name < tokens.size() && place.word(name))
    values.changes.add(std::string(tokens[name].text), tokens[i].at, tokens[i].at);
}

void read_reference(const HostToken& place, HostValues& values) {
  const std::vector<CppToken>& tokens = place.tokens;
  const size_t i = place.i;
  const auto changed = [&](size_t name) {
    if (place.word(name)) values.changes.add(std::string(tokens[name].text), tokens[i].at, tokens[i].at);
  };
  if (place.is(i, "&")) {
    if (!place.is(i + 2, ")") && !place.is(i + 2, ",")) return;
    size_t open = i - (i > 0 ? 1 : 0);  // of the call's arguments
    while (open > 0 && open + kMostOfConstant > i && !place.is(open, "(") && !place.is(open, ";")) --open;
    const std::string_view call = open > 0 && place.is(open, "(") ? tokens[open - 1].text : std::string_view();
    const bool scans = call.find("scanf") != std::string_view::npos;
    // A pointer that gets memory stays the same pointer, and a later argument is mostly only read.
    if (scans || (open + 1 == i && place.word(open - 1) && !call.starts_with("cudaMalloc"))) changed(i + 1);
    return;
  }
  for (size_t at = i + 1; at + 2 < tokens.size() && at < i + kMostOfConstant && !place.is(at, ";"); ++at)
    if (place.is(at, ">") && place.is(at + 1, ">")) changed(at + 2);
}

void read_dims(const HostToken& place, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  for (size_t at = i + 1; at < tokens.size() && !place.is(at, ";"); ++at) {
    if (place.is(at, "dim3")) return;  // the other dim3 is read from there
    if (!place.word(at)) continue;
    size_t open = at + 1;
    if (place.is(open, "=")) ++open;
    if (place.is(open, "dim3")) ++open;
    if (!place.is(open, "(") && !place.is(open, "{")) return;
    const size_t close = brackets.closing(open);
    std::vector<std::string> sizes;
    for (const auto& [begin, end] : parts_of(tokens, brackets, open + 1, close))
      sizes.push_back(text_of(tokens, begin, end));
    values.dims.add(std::string(tokens[at].text), {tokens[at].at, end_of_block, std::move(sizes)});
    at = close;
  }
}

}  // namespace attnscope::catalog
