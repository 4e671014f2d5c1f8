#include "ui/lesson_parts.h"

#include "charts/format.h"
#include "ui/icons.h"
#include "ui/widgets/control_label.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

// " 1,140 us in this step, 839 us now": the step's run and the learner's own; empty if either has no time.
std::string gained(const lesson::Progress& progress) {
  const Timing *before = nullptr, *now = nullptr;
  for (const lesson::Progress::Told& one : progress.told()) {
    const Timing* const timing = one.observation->timing ? &*one.observation->timing : nullptr;
    (one.run != nullptr ? before : now) = timing;
  }
  if (before == nullptr || now == nullptr) return {};
  return " " + charts::us_text(before->p50) + " in this step, " + charts::us_text(now->p50) + " now.";
}

// Draws the text with its figures, or why they cannot be filled in.
void say(const lesson::Progress& progress, const std::string& words) {
  if (words.empty()) return;
  const auto filled = progress.filled(words);
  wrapped(filled ? *filled : filled.error().message, filled ? palette().text : palette().bad);
  ImGui::Spacing();
}

}  // namespace

void draw_text(const lesson::Progress& progress) { say(progress, progress.step().text); }

void draw_waiting_run(LessonDesk& desk, const std::string& busy) {
  const lesson::Run* run = desk.progress()->wanted();
  if (run == nullptr || desk.progress()->state() != lesson::Progress::State::waits) return;
  if (!desk.fault().empty()) return wrapped(desk.fault(), palette().bad);
  if (desk.runs()) return wrapped("It runs\u2026 " + busy, palette().dim);
  if (leading_button((std::string(ICON_PLAY "  Run ") + words_of(*run) + "###run").c_str())) desk.run();
}

void draw_answer(const lesson::Progress& progress) {
  if (!progress.may_go_on() || !progress.step().predict || !progress.chosen()) return;
  const auto right = progress.right();
  if (!right) return wrapped(right.error().message, palette().bad);
  const bool met = *right == *progress.chosen();
  const std::string& answer = progress.step().predict->choices[*right].text;
  wrapped((met ? ICON_CHECK "  As you said: " : ICON_CLOSE "  You said otherwise. It is: ") + answer,
          met ? palette().good : palette().warn);
  ImGui::Spacing();
}

void draw_told(const lesson::Progress& progress) {
  if (!progress.may_go_on() || !progress.step().run) return;
  say(progress, progress.step().reveal);
  if (!progress.step().goal) return;
  ImGui::PushFont(fonts().strong, 0);
  say(progress, progress.step().goal->text);
  ImGui::PopFont();
  progress.reached() ? wrapped(ICON_CHECK "  Reached." + gained(progress), palette().good)
                     : wrapped("Turn the knobs on the left; this notices when you are there.", palette().dim);
}

}  // namespace attnscope::ui
