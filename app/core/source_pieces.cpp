#include "core/source_pieces.h"

#include <algorithm>

#include "core/cpp_tokens.h"

namespace attnscope {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view source) : tokens_(cpp_tokens(source)), brackets_(tokens_) {
    for (size_t at = 0; at < source.size(); ++at)
      if (source[at] == '\n') line_ends_.push_back(at);
  }

  size_t count() const { return tokens_.size(); }
  bool is(size_t i, std::string_view text) const { return i < count() && tokens_[i].is(text); }
  bool is_word(size_t i) const { return i < count() && tokens_[i].kind == CppToken::Kind::word; }
  std::string_view text(size_t i) const { return tokens_[i].text; }
  size_t closing(size_t open) const { return std::min(brackets_.closing(open), count() - 1); }
  int line(size_t i) const {
    const auto ends = std::ranges::lower_bound(line_ends_, tokens_[i].at);
    return static_cast<int>(ends - line_ends_.begin()) + 1;
  }

  // The brace that opens the body of the function whose parameters close at `i`; count() if none follows.
  size_t body_behind(size_t i) const {
    bool initializers = false;
    for (++i; i < count(); ++i) {
      if (is(i, ":")) initializers = true;
      const bool of_initializer = initializers && is_word(i - 1);
      if (is(i, "{") && !of_initializer) return i;
      if (initializers && (is(i, "(") || is(i, "{")))
        i = closing(i);
      else if (!is_word(i) && !is(i, ":") && !is(i, ",") && !is(i, "&"))
        return count();
      else if (!initializers && is(i, ","))
        return count();
    }
    return count();
  }

  // The last token of the statement that begins at `i`.
  size_t statement_end(size_t i) const {
    for (; i < count(); ++i) {
      if (is(i, "{")) return closing(i);
      if (is(i, "(") || is(i, "[")) i = closing(i);
      if (is(i, ";")) return i;
    }
    return count() - 1;
  }

 private:
  std::vector<CppToken> tokens_;
  CppBrackets brackets_;
  std::vector<size_t> line_ends_;
};

}  // namespace

SourcePieces::SourcePieces(std::string_view source, std::vector<NamedLines> named) : named_(std::move(named)) {
  const Reader read(source);
  const auto add_loops = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const bool headed = (read.is(i, "for") || read.is(i, "while")) && read.is(i + 1, "(");
      if (!headed && !(read.is(i, "do") && read.is(i + 1, "{"))) continue;
      const size_t body = headed ? read.closing(i + 1) + 1 : i + 1;
      if (headed && read.is(body, ";")) continue;  // the end of a do loop
      loops_.push_back({"", read.line(i), read.line(read.statement_end(body)), loops_.size(), true});
    }
  };
  for (size_t i = 0; i < read.count(); ++i) {
    if (!read.is(i, "(") || i == 0 || !read.is_word(i - 1)) continue;
    const size_t close = read.closing(i), body = read.body_behind(close);
    if (body == read.count()) {
      i = close;
      continue;
    }
    const size_t end = read.closing(body);
    functions_.push_back({std::string(read.text(i - 1)), read.line(i - 1), read.line(end), 0, true});
    add_loops(body, end);
    i = end;
  }
  // A loop comes before the loops in it.
  std::vector<size_t> children(loops_.size());
  for (size_t i = 0; i < loops_.size(); ++i)
    for (size_t j = i; j-- > 0;)
      if (loops_[j].last >= loops_[i].last) {
        loops_[i].parent = j;
        ++children[j];
        break;
      }
  for (size_t i = loops_.size(); i-- > 0;) {
    if (children[i] > 1) loops_[i].single = false;
    if (!loops_[i].single) loops_[loops_[i].parent].single = false;
  }
}

std::string_view SourcePieces::function_at(int line) const {
  for (const Piece& function : functions_)
    if (function.first <= line && line <= function.last) return function.name;
  return {};
}

int SourcePieces::loop_at(int line) const {
  const Piece* innermost = nullptr;
  for (const Piece& loop : loops_)
    if (loop.first <= line && line <= loop.last) innermost = &loop;
  if (innermost == nullptr) return 0;
  while (loops_[innermost->parent].single && &loops_[innermost->parent] != innermost)
    innermost = &loops_[innermost->parent];
  return innermost->first;
}

std::vector<LineRange> SourcePieces::lines_of(std::string_view function) const {
  std::vector<LineRange> lines;
  for (const Piece& one : functions_)
    if (one.name == function) lines.push_back({one.first, one.last});
  return lines;
}

std::string_view SourcePieces::name_at(int line) const {
  for (const NamedLines& one : named_)
    if (one.lines.contains(line)) return one.name;
  return {};
}

}  // namespace attnscope
