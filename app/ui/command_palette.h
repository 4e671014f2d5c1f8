#pragma once
#include <functional>
#include <string>
#include <vector>

namespace attnscope::ui {

// One line of the palette.
struct PaletteEntry {
  std::string title;
  std::string keys;     // its shortcut, or empty
  std::string refusal;  // why it does not apply now; empty: it does
  std::function<void()> run;
};

// Those whose title holds every word of `query`, case aside; titles that begin with it first, then those one of whose
// words does, each in the order given. An empty query gives all of them as they stand.
std::vector<size_t> matching(const std::vector<PaletteEntry>& entries, const std::string& query);

// A search box over everything that can be done; Enter does the chosen line, Escape leaves.
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
