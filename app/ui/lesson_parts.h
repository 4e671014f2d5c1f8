#pragma once
#include <string>

#include "ui/lesson_desk.h"

namespace attnscope::ui {

// Parts of a step that the panel and the presenter draw alike, into the current window. Each draws nothing where the
// step's state does not show it.

// The step's text, with its figures.
void draw_text(const lesson::Progress& progress);
// The step's run: a button, that it runs and how far it is (`busy`), or why it cannot.
void draw_waiting_run(LessonDesk& desk, const std::string& busy);
// Which answer is right, and whether it was chosen.
void draw_answer(const lesson::Progress& progress);
// What the run shows; the goal, and whether it is reached.
void draw_told(const lesson::Progress& progress);

}  // namespace attnscope::ui
