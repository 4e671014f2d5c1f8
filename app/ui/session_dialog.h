#pragma once
#include <functional>
#include <string>

#include "ui/context.h"

namespace attnscope::ui {

// Named sessions: save, search, open, delete to a bin and restore.
class SessionDialog {
 public:
  void open() { opens_ = true; }
  // `view` returns the part of a session that describes the window.
  void draw(Context& context, const std::function<Json()>& view);

 private:
  void take_note(const Context& context);
  void draw_saved(Context& context, float height);
  void draw_row(Context& context, const session::SavedSession& one) const;
  void draw_bin(Context& context) const;
  bool matches(const session::SavedSession& one) const;

  bool opens_ = false;
  std::string title_, note_, search_;
};

}  // namespace attnscope::ui
