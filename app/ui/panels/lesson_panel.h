#pragma once
#include <string>

#include "ui/glossary.h"
#include "ui/lesson_desk.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

// The lessons: a list, then the open one step by step.
class LessonPanel : public Panel {
 public:
  const char* title() const override;
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

 private:
  static void draw_list(Context& context);
  static bool draw_header(LessonDesk& desk);  // false: the lesson is left
  // The jargon of what is said, each word with its sentence under the pointer; none of `known`.
  static void draw_terms(const Glossary& glossary, const std::string& said, const std::string& known = {});
  void keep_done(Context& context);
  static void draw_question(LessonDesk& desk);

  std::string shown_step_;  // its title
  std::string kept_done_;   // the lesson that was kept as done
};

}  // namespace attnscope::ui
