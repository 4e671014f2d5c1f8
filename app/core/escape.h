#pragma once
#include <string>
#include <string_view>

#include "core/json_fwd.h"

namespace attnscope {

// Escapes text from outside (a title, an id, a device's name, a file's name, an error message) for a format. Each
// format has one function, and no other place escapes. All accept any bytes and return UTF-8. Control characters, marks
// that change the writing direction and bytes that are not UTF-8 become U+FFFD, or an escape if the format has one.
// tests/support/writers.h lists the users.

// Well-formed UTF-8 by RFC 3629: no surrogates, nothing over U+10FFFF, no overlong forms.
bool is_utf8(std::string_view text);

// For a terminal, which executes escape sequences. Keeps line ends and tabs.
std::string terminal_text(std::string_view text);
// The same on one line: line ends and tabs become blanks.
std::string one_line(std::string_view text);
// For text after `//` in C++: it never continues on the next line.
std::string c_comment(std::string_view text);
// For text in "…" of C++, also in `#line`.
std::string c_string(std::string_view text);
// For text in "…" or """…""" of Python.
std::string python_text(std::string_view text);
// One argument of sh. A file name that begins with '-' gets "./" in front, so that it is not an option.
std::string shell_word(std::string_view text);
// One argument of sh that may be an option: a leading '-' stays.
std::string shell_argument(std::string_view text);
// Text or an attribute's value in XML.
std::string xml_text(std::string_view text);
// Running text, a heading or a table's cell in Markdown.
std::string markdown_text(std::string_view text);
// Code in Markdown, including its backticks.
std::string markdown_code(std::string_view text);
// A cell of CSV (RFC 4180) on one line. Text that a spreadsheet would take for a formula gets a ' in front.
std::string csv_text(std::string_view text);
// JSON whose strings may hold any bytes; hidden characters become \u escapes. A negative `indent` gives one line.
std::string json_text(const Json& json, int indent = -1);

}  // namespace attnscope
