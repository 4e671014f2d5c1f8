#include "core/source_lines.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/code_file.h"
#include "core/cpp_tokens.h"

namespace attnscope {
namespace {

constexpr int64_t kLastLine = std::numeric_limits<int32_t>::max();  // of a #line (C++ [cpp.line])

int64_t newlines_in(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

std::vector<LineDirective> line_directives(std::string_view source) {
  std::vector<LineDirective> all;
  if (is_machine_code(source)) return all;
  size_t counted = 0;
  int64_t line = 1;  // the line of the byte at `counted`
  for (const CppToken& token : cpp_tokens(source)) {
    if (token.kind != CppToken::Kind::line) continue;
    const std::vector<CppToken> words = cpp_tokens(token.text.substr(1));
    const size_t number = !words.empty() && words[0].is("line") ? 1 : 0;
    if (words.size() <= number || words[number].kind != CppToken::Kind::number) continue;
    LineDirective one;
    const std::string_view digits = words[number].text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), one.line);
    if (error != std::errc() || end != digits.data() + digits.size() || one.line < 1 || one.line > kLastLine) continue;
    line += newlines_in(source.substr(counted, token.end() - counted));
    counted = token.end();
    one.text_line = line + 1;
    one.at = token.end();
    if (words.size() > number + 1 && words[number + 1].kind == CppToken::Kind::text) {
      std::string_view name = words[number + 1].text;
      if (name.size() < 2 || name.front() != '"' || name.back() != '"') continue;
      one.file = name.substr(1, name.size() - 2);
      one.at = static_cast<size_t>(one.file.data() - source.data());
    }
    all.push_back(one);
  }
  return all;
}

SourceLines::SourceLines(std::string name, std::string_view source) : name_(std::move(name)) {
  const std::vector<LineDirective> directives = line_directives(source);
  if (directives.empty()) return;
  parts_.push_back({1, 0, 1, name_});
  for (const LineDirective& one : directives) {
    const std::string before = parts_.back().file;
    parts_.back().end = one.text_line;
    parts_.push_back({one.text_line, 0, one.line, one.file.empty() ? before : std::string(one.file)});
  }
  parts_.back().end = newlines_in(source) + 2;
}

SourcePlace SourceLines::place_of(int64_t text_line) const {
  if (parts_.empty()) return {name_, text_line};
  auto part = std::ranges::upper_bound(parts_, text_line, {}, &Part::text_line);
  if (part != parts_.begin()) --part;
  return {part->file, part->line + (text_line - part->text_line)};
}

int64_t SourceLines::text_line(std::string_view file, int64_t line) const {
  if (line < 1) return 0;
  if (parts_.empty()) return file == name_ ? line : 0;
  for (const Part& part : parts_) {
    const int64_t at = part.text_line + (line - part.line);
    if (part.file == file && part.text_line <= at && at < part.end) return at;
  }
  return 0;
}

std::vector<std::string> SourceLines::files() const {
  if (parts_.empty()) return {name_};
  std::vector<std::string> names;
  for (const Part& part : parts_)
    if (part.end > part.text_line && std::ranges::find(names, part.file) == names.end()) names.push_back(part.file);
  return names;
}

}  // namespace attnscope
