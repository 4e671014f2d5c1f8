#pragma once
#include <map>
#include <string>
#include <vector>

#include "charts/finding_rows.h"
#include "session/session.h"
#include "ui/shown.h"

namespace attnscope::ui {

// Runs what the findings of the shown run propose, on the same device and after all other requests, and keeps the
// results.
class Tries {
 public:
  static constexpr size_t kMost = 3;  // configs per run

  // Call once per frame. Configs that already ran, in the history or in a scan, are not run again. `may_run`: no
  // request of a person is pending, and automatic trials are enabled.
  void follow(session::Session& session, const session::Snapshot& snapshot, const Shown& shown, bool may_run);
  // The result of that config compared with the shown run; null if it is not among those tried. Empty words: it has not
  // ended.
  const charts::Tried* of(const Config& config) const;

 private:
  struct Wish {
    Experiment experiment;
    std::map<std::string, int64_t> set;
    bool asked = false;
    charts::Tried came;
  };
  void take(const session::Snapshot& snapshot, const session::Shared<Observation>& shown);
  void look(const session::Snapshot& snapshot, Wish& wish) const;

  session::Shared<Observation> base_;
  std::vector<Wish> wishes_;
};

}  // namespace attnscope::ui
