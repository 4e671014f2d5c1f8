#pragma once
#include <string>
#include <string_view>

#include "core/json_fwd.h"

namespace attnscope {

// Text from outside (a title, an id, a device's name, a file's name, an error message) on its way into a format. One
// function for each format, and no other place escapes. All of them take any bytes and give UTF-8. What no reader
// should meet (control characters, marks that turn the direction of writing, bytes that are no UTF-8) becomes U+FFFD,
// or an escape where the format has one. tests/support/writers.h lists who uses them.

// Well-formed UTF-8 as RFC 3629 has it: no surrogates, nothing over U+10FFFF, no over-long forms.
bool is_utf8(std::string_view text);

// Keeps line ends and tabs: for a terminal, to which an escape sequence is an order.
std::string terminal_text(std::string_view text);
// The same on one line: line ends and tabs become blanks.
std::string one_line(std::string_view text);
// Behind `//` of C++, to the line's end: it never continues on the next line.
std::string c_comment(std::string_view text);
// Within "…" of C++, also of `#line`.
std::string c_string(std::string_view text);
// Within "…" or """…""" of Python.
std::string python_text(std::string_view text);
// One argument of sh; a file's name that begins with - gets ./ in front, so that it is no option.
std::string shell_word(std::string_view text);
// The same of an argument that may be an option: what begins with '-' stays as it is.
std::string shell_argument(std::string_view text);
// Text or an attribute's value in XML.
std::string xml_text(std::string_view text);
// Markdown's running text, a heading's or a table's cell.
std::string markdown_text(std::string_view text);
// `…` of Markdown, with its backticks.
std::string markdown_code(std::string_view text);
// JSON, whatever bytes its texts hold; hidden characters are \u escapes. `indent` below 0: on one line.
std::string json_text(const Json& json, int indent = -1);

}  // namespace attnscope
