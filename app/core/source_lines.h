#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// A `#line 12 "common.h"` of a source, or the compilers' `# 12 "common.h"`.
struct LineDirective {
  size_t at = 0;          // bytes from the source's start to the name; to the directive's end if it has no name
  int64_t text_line = 0;  // the line behind it, as the text's lines count from 1
  int64_t line = 0;       // what that line is called
  std::string_view file;  // of the source; empty: the file does not change
};

// Ascending. Those under `#if 0` do not count, those under other conditions do.
std::vector<LineDirective> line_directives(std::string_view source);

struct SourcePlace {
  std::string file;
  int64_t line = 0;  // from 1
  bool operator==(const SourcePlace&) const = default;
};

// Which lines of which files the lines of a kernel's text are. They are its own, unless #line says otherwise: import
// writes it where it pastes a header, so that compilers, findings and panels name the lines that a person has.
class SourceLines {
 public:
  SourceLines() = default;
  // `name`: of the file that holds the text.
  explicit SourceLines(std::string name, std::string_view source = {});

  const std::string& name() const { return name_; }
  bool has_directives() const { return !parts_.empty(); }
  // The file of a line of the text, and its line there.
  SourcePlace place_of(int64_t text_line) const;
  // The line of the text that is line `line` of `file`, the first if there are several; 0: none.
  int64_t text_line(std::string_view file, int64_t line) const;
  // The names of the files, each once; the text's own comes first if it has lines.
  std::vector<std::string> files() const;

 private:
  struct Part {
    int64_t text_line = 1, end = 0;  // of the text; the end is not part of it
    int64_t line = 1;
    std::string file;
  };
  std::string name_;
  std::vector<Part> parts_;  // of a text with directives: ascending, the whole text
};

}  // namespace attnscope
