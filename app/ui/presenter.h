#pragma once
#include <imgui.h>

#include <optional>
#include <string>

#include "ui/context.h"
#include "ui/lesson_desk.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

class ExperimentPanel;

// The window for a projector, in large type: the step of the open lesson, or without a lesson the shown run and its
// knobs. It covers everything else; the panels keep their places.
class Presenter {
 public:
  bool is_on() const { return on_; }
  void turn(bool on);
  bool settled() const { return settling_ == 0; }  // the size of the type is final

  // Goes forward or back by one: a lesson's step, its run, the mark on an answer; without a lesson, the run in the
  // history.
  void step(int direction, LessonDesk& desk, session::Session& session, const session::Snapshot& snapshot);
  // Answers with the marked choice.
  void take_marked(LessonDesk& desk);
  // Why there is no marked choice; empty if there is one.
  std::string why_not_taken(const LessonDesk& desk) const;

  // How much larger the type is than the window's, for a window of `size` pixels.
  float type_scale(ImVec2 size) const;

  // `time` is the panel with the shown run's time.
  void draw(Context& context, ExperimentPanel& controls, Panel& time);

 private:
  void draw_lesson(Context& context, ExperimentPanel& controls);
  void draw_question(LessonDesk& desk);
  static void draw_runs(const Context& context, const lesson::Progress& progress);
  static void draw_run(const Context& context, ExperimentPanel& controls, Panel& time);
  void draw_hints(const Context& context) const;
  void draw_spot(const Context& context);
  void begin_column(const char* name, ImVec2 size);
  void end_column();
  void settle(const Context& context);

  bool on_ = false;
  std::optional<size_t> marked_;  // a choice
  std::string marked_of_;         // identifies the step that it belongs to
  // The type is the largest with which the step fits. New content is drawn when its size is known.
  float fit_ = 1, fits_ = 1, exceeds_ = 1;  // type that fits, and that is as large as it may be or does not fit
  float drawn_fit_ = 1, overflow_ = 0;      // of the last frame: fit_, and the wanted height over the available one
  int settling_ = 0;                        // number of frames
  std::string fitted_;                      // the content that fit_ was found for
  ImVec2 spot_{};                           // the pointer's position, and since when it rests there
  double rests_since_ = 0;
};

}  // namespace attnscope::ui
