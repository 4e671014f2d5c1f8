#pragma once
#include <cstdint>
#include <map>

#include "ui/context.h"

namespace attnscope::ui {

// Messages in the lower right corner: what failed or was done, and what to do. Information disappears by itself; an
// error stays until the user closes it.
class Toasts {
 public:
  void draw(Context& context);

 private:
  std::map<uint64_t, double> first_seen_;  // toast → ImGui time
};

}  // namespace attnscope::ui
