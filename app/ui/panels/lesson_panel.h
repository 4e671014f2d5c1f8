#pragma once
#include <optional>
#include <string>

#include "lesson/progress.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

// The lessons: a list, then the open one step by step. It asks, runs, tells, and watches the knobs for the goal.
class LessonPanel : public Panel {
 public:
  const char* title() const override;
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

  bool is_open() const { return progress_.has_value(); }
  void close() { progress_.reset(); }

 private:
  const Result<Draft>& draft_of(const Context& context, const lesson::Run& run);
  void follow(const Context& context);
  void start_run(Context& context);
  void draw_list(Context& context);
  bool draw_header();  // false: the lesson is left
  void draw_question(Context& context);
  void draw_answer();
  void draw_run(Context& context);
  void draw_goal();
  void draw_figures(const std::string& words);

  std::optional<lesson::Progress> progress_;
  std::string taken_;  // the hash of the experiment that progress_ took last
  std::string fault_;  // why the step's run cannot start
  // The last run that was completed to a draft, and with which kernels.
  std::optional<std::pair<const lesson::Run*, session::Shared<std::vector<Kernel>>>> drafted_;
  Result<Draft> draft_;
};

// The observation of the wanted experiment, once it has ended: with its watch if `watch`, or with its refusal.
std::optional<Observation> settled(const session::Focus& focus, bool watch);

}  // namespace attnscope::ui
