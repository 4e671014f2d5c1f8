#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// A `#line 12 "common.h"` in a source, or the compilers' form `# 12 "common.h"`.
struct LineDirective {
  size_t at = 0;          // byte offset of the name; of the directive's end if it has no name
  int64_t text_line = 0;  // the line after it, counted in the text from 1
  int64_t line = 0;       // the number that the directive gives that line
  std::string_view file;  // points into the source; empty: the file does not change
};

// The directives in ascending order. Those under `#if 0` are left out; those under other conditions are included.
std::vector<LineDirective> line_directives(std::string_view source);

struct SourcePlace {
  std::string file;
  int64_t line = 0;  // from 1
  bool operator==(const SourcePlace&) const = default;
};

// Maps lines of a kernel's text to files and lines. They are the text's own lines unless #line says otherwise. Import
// writes #line where it pastes a header, so that compilers, findings and panels name the lines of the person's own
// files.
class SourceLines {
 public:
  SourceLines() = default;
  // `name`: the file that holds the text.
  explicit SourceLines(std::string name, std::string_view source = {});

  const std::string& name() const { return name_; }
  bool has_directives() const { return !parts_.empty(); }
  // The file and line of a line of the text.
  SourcePlace place_of(int64_t text_line) const;
  // The first line of the text that stands for line `line` of `file`; 0: none.
  int64_t text_line(std::string_view file, int64_t line) const;
  // The names of the files without repetition; the text's own comes first if it has lines.
  std::vector<std::string> files() const;

 private:
  struct Part {
    int64_t text_line = 1, end = 0;  // lines of the text; `end` is exclusive
    int64_t line = 1;
    std::string file;
  };
  std::string name_;
  std::vector<Part> parts_;  // for a text with directives: ascending, covering the whole text
};

}  // namespace attnscope
