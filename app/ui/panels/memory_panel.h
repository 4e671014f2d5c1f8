#pragma once
#include "ui/panels/panel.h"

namespace attnscope::ui {

// Shared memory by buffer with the limits, occupancy with its limiter, waves and tail, registers and spills.
class MemoryPanel : public Panel {
 public:
  const char* title() const override { return "Shared memory"; }
  Dock dock() const override { return Dock::memory; }
  void draw(Context& context) override;

 private:
  static void draw_gauge(Context& context, const VariantInfo& variant, const DeviceSpec& spec);
  static void draw_buffers(Context& context, const VariantInfo& variant, const DeviceSpec& spec);
  void draw_occupancy(Context& context, const VariantInfo* variant, const Occupancy& occupancy, const DeviceSpec& spec);
};

}  // namespace attnscope::ui
