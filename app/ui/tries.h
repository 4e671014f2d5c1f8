#pragma once
#include <map>
#include <string>
#include <vector>

#include "charts/finding_rows.h"
#include "session/session.h"
#include "ui/shown.h"

namespace attnscope::ui {

// What the findings of the shown run propose, run on the same device after everything else, and what came of it.
class Tries {
 public:
  static constexpr size_t kMost = 3;  // configs of one run

  // Once a frame. Configs that ran before, in the history or in a scan, are not run again. `may_run`: nothing that a
  // person asked for is on its way, and they want it.
  void follow(session::Session& session, const session::Snapshot& snapshot, const Shown& shown, bool may_run);
  // Of that config beside the shown run; null: it is not one of those that are tried. Empty words: it has not ended.
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
