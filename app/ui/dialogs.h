#pragma once
#include <string>

#include "ui/actions.h"
#include "ui/context.h"

namespace attnscope::ui {

// The modal windows that only inform: the command sheet, the glossary, what was found, about.
class Dialogs {
 public:
  void commands() { wanted_ = "Commands"; }
  void glossary() { wanted_ = "Glossary"; }
  void about() { wanted_ = "About attnscope"; }
  void found() { wanted_ = "What was found"; }

  void draw(Context& context, const Actions& actions);

 private:
  static void draw_commands(const Actions& actions);
  void draw_glossary(const Context& context);
  void draw_about(const Context& context);
  void draw_found(const Context& context);

  std::string wanted_;  // the dialog to open in this frame
  std::string filter_;
};

}  // namespace attnscope::ui
