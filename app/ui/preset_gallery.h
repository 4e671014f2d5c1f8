#pragma once
#include <map>
#include <string>
#include <vector>

#include "ui/context.h"

namespace attnscope::ui {

// The newest run in the history with that preset's kernel, problem and config, on any device; null if there is none.
session::Shared<Observation> run_of_preset(const session::History& history, const session::PresetItem& preset);

// Presets as cards, grouped: each with a thumbnail of its last run's time, its title, kernel and note.
class PresetGallery {
 public:
  // Returns the path of the card that was chosen in this frame; empty if none was. `managed` is outlined.
  std::string draw(const Context& context, const std::string& managed, float height);
  // True if a card was double-clicked to load its preset.
  bool loads() const { return loads_; }
  void reset() {
    search_.clear();
    to_top_ = true;
  }
  // Scrolls to that preset, whatever the search text.
  void bring_into_sight(const std::string& path) {
    search_.clear();
    sought_ = path;
  }

 private:
  void find_runs(const session::Snapshot& snapshot);
  bool matches(const session::PresetItem& preset) const;
  bool draw_card(const session::PresetItem& preset, bool outlined, bool loaded, float width);

  std::map<std::string, session::Shared<Observation>> runs_;  // by preset path
  size_t runs_in_ = 0;                                        // number of history entries already searched
  session::Shared<std::vector<session::PresetItem>> runs_of_;
  std::string search_;
  std::string sought_;  // path of the preset to scroll to; empty: none
  bool loads_ = false, to_top_ = false;
};

}  // namespace attnscope::ui
