#pragma once
#include "ui/panels/panel.h"

namespace attnscope::ui {

// The emulator's counts: instructions by class, lanes, shared and global memory; exact, or from the sampled share.
class CountersPanel : public Panel {
 public:
  const char* title() const override { return "Counters"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
};

}  // namespace attnscope::ui
