#include "charts/ptx_lines.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace attnscope::charts {
namespace {

// The numbers of a .loc or an inlined_at: "1 203 5".
struct Loc {
  int64_t file = 0, line = 0;
};

int64_t take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

Loc take_loc(std::string_view text) {
  Loc loc;
  loc.file = take_number(text);
  loc.line = take_number(text);
  return loc;
}

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// Parses .file 1 "/src/02_tiled.cu" and finds which of the source's files each number is.
std::map<int64_t, std::string> files_named(const std::vector<std::string_view>& lines, const SourceLines& source) {
  const std::vector<std::string> wanted = source.files();
  std::map<int64_t, std::string> numbers;
  for (std::string_view line : lines) {
    line = trimmed(line);
    if (!line.starts_with(".file")) continue;
    std::string_view rest = line.substr(5);
    const int64_t number = take_number(rest);
    const size_t open = rest.find('"'), close = rest.rfind('"');
    if (open == std::string_view::npos || close <= open) continue;
    const std::string_view path = rest.substr(open + 1, close - open - 1);
    for (const std::string& name : wanted)  // "common/x.h" rather than "x.h" if both match
      if ((path == name || path.ends_with("/" + name)) && name.size() > numbers[number].size()) numbers[number] = name;
  }
  return numbers;
}

}  // namespace

std::vector<PtxLine> ptx_lines(std::string_view ptx, const SourceLines& source) {
  const std::vector<std::string_view> all = lines_in(ptx);
  const std::map<int64_t, std::string> files = files_named(all, source);
  std::vector<PtxLine> lines;
  std::vector<int64_t> from;
  for (const std::string_view text : all) {
    const std::string_view words = trimmed(text);
    if (!words.starts_with(".loc")) {
      const bool ends = words.starts_with("}");
      if (ends) from.clear();
      lines.push_back({text, words.empty() || ends ? std::vector<int64_t>() : from});
      continue;
    }
    constexpr std::string_view kInlined = "inlined_at";
    from.clear();
    const auto add = [&](const Loc& loc) {
      const auto file = files.find(loc.file);
      const int64_t at = file == files.end() ? 0 : source.text_line(file->second, loc.line);
      if (at > 0 && std::ranges::find(from, at) == from.end()) from.push_back(at);
    };
    add(take_loc(words.substr(4)));
    if (const size_t at = words.find(kInlined); at != std::string_view::npos)
      add(take_loc(words.substr(at + kInlined.size())));
  }
  return lines;
}

}  // namespace attnscope::charts
