#pragma once
#include "ui/panels/panel.h"

namespace attnscope::ui {

// What the emulator counted: instructions by class, lanes, shared and global memory; exact, or the share that was
// sampled.
class CountersPanel : public Panel {
 public:
  const char* title() const override { return "Counters"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
};

}  // namespace attnscope::ui
