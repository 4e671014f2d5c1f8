#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "charts/softmax_view.h"
#include "ui/context.h"

namespace attnscope::ui {

// The state of the kernel's online softmax for one query row, key tile by key tile: m, l, the scores, their weights,
// and O; beside them what A held when it had taken the same keys.
class SoftmaxPane {
 public:
  // Returns the line of the kernel's source that a person chose here, or 0.
  int64_t draw(Context& context, const Kernel& kernel);
  void show(const SoftmaxRow& row, int64_t tile);  // `tile` is counted from 1

 private:
  void follow_lesson(const LessonDesk& lesson);
  void take(Context& context);
  void take_a(Context& context);
  std::optional<charts::SoftmaxGhost> ghost_at(size_t tile) const;  // empty: A's steps are not there
  void draw_choice(const Problem& problem);
  void draw_figures() const;
  int64_t draw_lines() const;
  void draw_tiles(float height);
  void draw_bars_of_tile();

  SoftmaxRow row_;
  std::optional<int64_t> lesson_row_;  // that the open lesson's step speaks of
  std::string of_;                     // the experiment's hash
  int tile_ = 0;
  session::Shared<Listing> listing_;  // for row_, or for the previous row until its answer arrives
  std::string missing_;               // why there is no listing
  bool waits_ = false;
  std::vector<SoftmaxTile> tiles_;
  session::Shared<Listing> a_;         // of A's run and the same row; null: not there, and without_a_ may say why
  session::Shared<Observation> a_of_;  // A, whose hash is a_hash_
  std::string a_hash_, without_a_;
};

}  // namespace attnscope::ui
