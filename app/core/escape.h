#pragma once
#include <string>
#include <string_view>

#include "core/json_fwd.h"

namespace attnscope {

// Escapes text from outside (a title, an id, a device's name, a file's name, an error message) for a format. There is
// one function for each format, and no other place escapes. All accept any bytes and return UTF-8. What should not
// reach a reader (control characters, marks that change the writing direction, bytes that are not UTF-8) becomes
// U+FFFD, or an escape if the format has one. tests/support/writers.h lists their users.

// Well-formed UTF-8 as RFC 3629 has it: no surrogates, nothing over U+10FFFF, no over-long forms.
bool is_utf8(std::string_view text);

// For a terminal, which executes escape sequences. Keeps line ends and tabs.
std::string terminal_text(std::string_view text);
// The same on one line: line ends and tabs become blanks.
std::string one_line(std::string_view text);
// Behind `//` of C++, to the end of the line: it never continues on the next line.
std::string c_comment(std::string_view text);
// Within "…" of C++, also of `#line`.
std::string c_string(std::string_view text);
// Within "…" or """…""" of Python.
std::string python_text(std::string_view text);
// One argument of sh; a file name that begins with - gets ./ in front, so that it is not an option.
std::string shell_word(std::string_view text);
// The same for an argument that may be an option: a leading '-' stays.
std::string shell_argument(std::string_view text);
// Text or an attribute's value in XML.
std::string xml_text(std::string_view text);
// Markdown's running text, a heading's or a table's cell.
std::string markdown_text(std::string_view text);
// `…` of Markdown, with its backticks.
std::string markdown_code(std::string_view text);
// A cell of CSV (RFC 4180) on one line. A text that a spreadsheet would take for a formula gets a ' in front.
std::string csv_text(std::string_view text);
// JSON with any bytes in its texts; hidden characters become \u escapes. `indent` below 0: on one line.
std::string json_text(const Json& json, int indent = -1);

}  // namespace attnscope
