#include "ui/panels/source_marks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace attnscope::ui {
namespace {

void mark(std::map<int64_t, SourceMark>& marks, int64_t line, bool error, const std::string& words) {
  SourceMark& one = marks[line];
  one.line = line;
  one.error |= error;
  if (one.words.find(words) == std::string::npos) one.words += (one.words.empty() ? "" : "\n\n") + words;
}

int64_t number_at(std::string_view words) {
  int64_t number = 0;
  std::from_chars(words.data(), words.data() + words.size(), number);
  return number;
}

// Marks "02_tiled.cu:203" wherever it occurs in the text.
void mark_named(std::map<int64_t, SourceMark>& marks, const std::string& words, const SourceLines& source) {
  for (const std::string& file : source.files()) {
    const std::string name = file + ":";
    for (size_t at = words.find(name); at != std::string::npos; at = words.find(name, at + 1)) {
      const int64_t number = number_at(std::string_view(words).substr(at + name.size()));
      if (const int64_t line = source.text_line(file, number); line > 0) mark(marks, line, true, words);
    }
  }
}

// Marks the compiler's other errors, from its log: "02_tiled.cu(203): error: …".
void mark_log(std::map<int64_t, SourceMark>& marks, const std::string& log, const SourceLines& source) {
  constexpr std::string_view kError = "): error: ";
  for (std::string_view rest = log; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t end = line.find(kError);
    const size_t start = end == std::string_view::npos ? end : line.rfind('(', end);
    if (start == std::string_view::npos) continue;
    const std::string file(line.substr(0, start));
    const int64_t at = source.text_line(file, number_at(line.substr(start + 1)));
    const std::string words(line.substr(end + kError.size()));
    if (at > 0 && !words.empty() && !marks[at].words.ends_with(words)) mark(marks, at, true, words);
  }
}

void mark_finding(std::map<int64_t, SourceMark>& marks, const Finding& finding, const SourceLines& source) {
  for (const auto& [file_key, line_key] : {std::pair{"file", "line"}, {"other_file", "other_line"}}) {
    const auto where = finding.where.find(file_key), line = finding.where.find(line_key);
    if (line == finding.where.end() || where == finding.where.end()) continue;
    if (const int64_t at = source.text_line(where->second, number_at(line->second)); at > 0)
      mark(marks, at, finding.severity == Severity::error, finding.sentence);
  }
}

}  // namespace

std::vector<SourceMark> source_marks(const Observation& seen, const Failure* failure, const SourceLines& source) {
  std::map<int64_t, SourceMark> marks;
  for (const Finding& finding : seen.findings) mark_finding(marks, finding, source);
  if (seen.watch)
    for (const auto* list : {&seen.watch->findings, &seen.watch->needless})
      for (const Finding& finding : *list) mark_finding(marks, finding, source);
  if (failure != nullptr) {
    mark_named(marks, failure->message, source);
    if (failure->stage == Stage::compile) mark_log(marks, failure->hint, source);
  }
  std::vector<SourceMark> sorted;
  for (auto& [line, one] : marks) sorted.push_back(std::move(one));
  return sorted;
}

}  // namespace attnscope::ui
