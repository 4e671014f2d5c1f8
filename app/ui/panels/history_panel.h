#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/panels/compare_pane.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

// Every run as a row. A click shows the run; a right click can make it the baseline (A).
class HistoryPanel : public Panel {
 public:
  const char* title() const override { return "History"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  // Opens or closes the comparison of the baseline with the shown run.
  void compare(bool wanted) { compare_.open(wanted); }
  bool compares() const { return compare_.is_open(); }
  // Opens the line that filters the runs.
  void find() { finds_ = takes_focus_ = true; }

 private:
  void draw_runs(Context& context);
  void draw_filter(Context& context);  // history_filter.cpp
  bool shows(const Context& context, const session::HistoryEntry& entry) const;
  void sort(const Context& context);
  void follow_newest(size_t runs);
  void note_items(Context& context, const Observation& seen);
  void keep_note(Context& context);
  void draw_row(Context& context, const session::HistoryEntry& entry);
  void fit_columns(const Context& context, float ems);

  std::vector<size_t> order_;  // indices into the history, in sorted order
  int sort_column_ = 0;
  bool ascending_ = true;
  size_t runs_seen_ = 0;  // number of runs in the last frame
  int to_end_ = 0;        // frames left in which the list scrolls to its end
  bool stale_ = true;
  // Decides which runs the list shows.
  struct Filter {
    std::string words;     // the config, change or note must contain them
    bool starred = false;  // only runs with a star
    uint64_t session = 0;  // OpenedSession::number
    const void* notes = nullptr;
    size_t runs = 0;
    bool searches() const { return starred || !words.empty(); }
    bool operator==(const Filter&) const = default;
  };
  Filter filter_, sorted_with_;
  bool finds_ = false, takes_focus_ = false;  // the filter line is open; it takes the keyboard focus
  // The note in the open menu of a run.
  struct Noting {
    std::string hash;    // of the experiment
    std::string before;  // as it was last stored
    bool drawn = false;  // drawn in this frame
  };
  std::optional<Noting> noting_;
  std::string note_;  // as typed
  ComparePane compare_;
  bool made_ = false;    // the table has been drawn once
  size_t fitting_ = 11;  // columns that fit the width
};

}  // namespace attnscope::ui
