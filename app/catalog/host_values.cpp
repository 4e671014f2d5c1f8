#include "catalog/host_values.h"

#include <set>
#include <string_view>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostOfConstant = 60;         // tokens of the value
constexpr size_t kMostChangesLookedAt = 1000;  // of a name; with more its value is unknown

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
  const bool counter = i >= 4 && place.is(i - 3, "(") && place.is(i - 4, "for");
  if (!assigned || counter || end - i >= kMostOfConstant) return std::nullopt;
  const std::string name(tokens[i - 1].text), value = text_of(tokens, i + 1, end);
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
