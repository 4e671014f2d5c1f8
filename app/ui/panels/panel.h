#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// Where a panel stands in the default layout.
enum class Dock { controls, latency, memory, error, below };

// One panel a file. Its window is named by title(), which is also its place in a saved layout.
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
