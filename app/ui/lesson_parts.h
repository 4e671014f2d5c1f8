#pragma once
#include <string>

#include "ui/lesson_desk.h"

namespace attnscope::ui {

// Parts of a step that the panel and the presenter both draw, into the current window. A part draws nothing if the
// step's state does not show it.

// The step's text, with its figures.
void draw_text(const lesson::Progress& progress);
// The step's run: a button to start it, its progress (`busy`), or why it cannot start.
void draw_waiting_run(LessonDesk& desk, const std::string& busy);
// The right answer, and whether it was chosen.
void draw_answer(const lesson::Progress& progress);
// The reveal; then the goal, and whether it is reached.
void draw_told(const lesson::Progress& progress);

}  // namespace attnscope::ui
