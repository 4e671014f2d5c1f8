#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// A panel's place in the default layout.
enum class Dock { controls, latency, memory, error, below };

// One panel per file. title() names its window and its place in a saved layout.
class Panel {
 public:
  virtual ~Panel() = default;
  virtual const char* title() const = 0;
  virtual Dock dock() const = 0;
  virtual void draw(Context& context) = 0;
};

// A small heading over a group of controls or figures.
void section(const char* title);

}  // namespace attnscope::ui
