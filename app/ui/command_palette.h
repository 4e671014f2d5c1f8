#pragma once
#include <functional>
#include <string>
#include <vector>

namespace attnscope::ui {

// One line of the palette.
struct PaletteEntry {
  std::string title;
  std::string keys;     // its shortcut, or empty
  std::string refusal;  // why it is not available now, or empty
  std::function<void()> run;
};

// The indices of entries whose title contains every word of `query`, ignoring case: first titles that begin with the
// query, then titles with a word that does, each group in the given order. An empty query returns all of them in the
// given order.
std::vector<size_t> matching(const std::vector<PaletteEntry>& entries, const std::string& query);

// A search box over all commands; Enter runs the chosen line, Escape closes.
class CommandPalette {
 public:
  void open(std::vector<PaletteEntry> entries);
  void draw();
  bool is_open() const { return open_; }

 private:
  void draw_entries();
  void refresh();

  std::vector<PaletteEntry> entries_;
  std::vector<size_t> shown_;
  std::string query_;
  size_t chosen_ = 0;  // index into shown_
  bool open_ = false, opens_ = false, reveal_ = false;
};

}  // namespace attnscope::ui
