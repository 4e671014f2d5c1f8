#include "core/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/replace_all.h"

namespace attnscope {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// One code point and its bytes. Each byte that is not UTF-8 gives one replacement character.
struct Rune {
  char32_t code = kReplacement;
  std::string_view bytes;
  bool valid = false;
};

Rune first_rune(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, text.substr(0, 1), true};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const Rune wrong{kReplacement, text.substr(0, 1), false};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return wrong;
  char32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return wrong;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return wrong;
  return {code, text.substr(0, length), true};
}

// True for code points that control a terminal, end a line invisibly, change the writing direction or are not
// characters.
bool hidden(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF ||
         (code & 0xFFFE) == 0xFFFE;
}

template <class Take>
void each_rune(std::string_view text, Take take) {
  while (!text.empty()) {
    const Rune rune = first_rune(text);
    take(rune);
    text.remove_prefix(rune.bytes.size());
  }
}

void put(std::string& out, const Rune& rune) {
  if (rune.valid && !hidden(rune.code))
    out += rune.bytes;
  else
    out += "\uFFFD";
}

std::string with_code_points(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  each_rune(text, [&](const Rune& rune) {
    const bool blank = rune.code == '\n' || rune.code == '\t';
    if (blank && lines)
      out += rune.bytes;
    else if (blank || rune.code == '\r' || rune.code == 0x2028 || rune.code == 0x2029)
      out += lines ? "\uFFFD" : " ";
    else
      put(out, rune);
  });
  return out;
}

bool is_word_character(char32_t code) {
  return code >= 0x80 || (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

}  // namespace

bool is_utf8(std::string_view text) {
  bool valid = true;
  each_rune(text, [&](const Rune& rune) { valid = valid && rune.valid; });
  return valid;
}

std::string terminal_text(std::string_view text) { return with_code_points(text, true); }
std::string one_line(std::string_view text) { return with_code_points(text, false); }

std::string c_comment(std::string_view text) {
  std::string out = one_line(text);
  replace_all(out, "*/", "* /");
  replace_all(out, "/*", "/ *");
  // A backslash at the end of the line continues the comment, even with blanks after it; ??/ is a backslash.
  const size_t last = out.find_last_not_of(' ');
  if (last != std::string::npos && (out[last] == '\\' || std::string_view(out).substr(0, last + 1).ends_with("?\?/")))
    out += " .";
  return out;
}

std::string c_string(std::string_view text) {
  std::string out;
  each_rune(text, [&](const Rune& rune) {
    if (rune.code == '"' || rune.code == '\\' || rune.code == '?')
      (out += '\\') += rune.bytes;  // '?' too, because ??/ is a backslash
    else if (rune.valid && !hidden(rune.code))
      out += rune.bytes;
    else
      for (const char byte : rune.bytes) out += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  });
  return out;
}

std::string python_text(std::string_view text) {
  std::string out;
  each_rune(text, [&](const Rune& rune) {
    if (rune.code == '"' || rune.code == '\\')
      (out += '\\') += rune.bytes;
    else if (rune.valid && hidden(rune.code))
      out += fmt::format("\\U{:08x}", static_cast<uint32_t>(rune.code));
    else
      put(out, rune);
  });
  return out;
}

std::string shell_argument(std::string_view text) {
  std::string out = one_line(text);
  const bool plain = !out.empty() && std::ranges::all_of(out, [](unsigned char c) {
    return c < 0x80 && (is_word_character(c) ||
                        std::string_view("_-./:=+,@%").find(static_cast<char>(c)) != std::string_view::npos);
  });
  if (plain) return out;
  replace_all(out, "'", "'\\''");
  return "'" + out + "'";
}

std::string shell_word(std::string_view text) {
  return shell_argument(text.starts_with('-') ? "./" + std::string(text) : std::string(text));
}

std::string xml_text(std::string_view text) {
  std::string out = one_line(text);
  for (const auto& [mark, entity] :
       {std::pair{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}})
    replace_all(out, mark, entity);
  return out;
}

std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const auto word = [&](size_t at) {
      return at < line.size() && is_word_character(static_cast<unsigned char>(line[at]));
    };
    // An underscore within a word has no effect; #, + and - have one only at the start of a line.
    const bool mark = std::string_view("\\`*[]<>|~&$").find(c) != std::string_view::npos ||
                      (c == '_' && !(i > 0 && word(i - 1) && word(i + 1))) ||
                      (out.empty() && std::string_view("#+-=").find(c) != std::string_view::npos);
    const bool number = i > 0 && (c == '.' || c == ')') && (i + 1 == line.size() || line[i + 1] == ' ') &&
                        line.find_first_not_of("0123456789") == i;  // "1. " at the start of a line begins a list
    if (mark || number) out += '\\';
    if (c != ' ' || !out.empty()) out += c;  // four blanks at the start of a line would be code
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string out = one_line(text);
  size_t longest = 0, run = 0;
  for (const char c : out) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  replace_all(out, "|", "\\|");  // '|' ends a table's cell even in code
  const std::string fence(longest + 1, '`');
  const bool apart = out.empty() || out.front() == '`' || out.back() == '`';
  return fence + (apart ? " " + out + " " : out) + fence;
}

std::string csv_text(std::string_view text) {
  std::string out = one_line(text);
  if (!out.empty() && std::string_view("=+-@").find(out.front()) != std::string_view::npos) out.insert(0, 1, '\'');
  if (out.find_first_of(",\"") == std::string::npos) return out;
  replace_all(out, "\"", "\"\"");
  return "\"" + out + "\"";
}

std::string json_text(const Json& json, int indent) {
  // Hidden characters occur in the output of dump() only within strings, and unescaped: dump() escapes those of ASCII.
  std::string out;
  each_rune(json.dump(indent, ' ', false, Json::error_handler_t::replace), [&](const Rune& rune) {
    if (rune.code == '\n' || !hidden(rune.code))
      out += rune.bytes;
    else if (rune.code < 0x10000)
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(rune.code));
    else
      out += "\uFFFD";  // noncharacters beyond the first plane
  });
  return out;
}

}  // namespace attnscope
