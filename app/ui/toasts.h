#pragma once
#include <cstdint>
#include <map>

#include "ui/context.h"

namespace attnscope::ui {

// Messages in the lower right corner: what went wrong or was done, in words, with what to do. Information leaves by
// itself; an error stays until it is read away.
class Toasts {
 public:
  void draw(Context& context);

 private:
  std::map<uint64_t, double> first_seen_;  // toast → ImGui time
};

}  // namespace attnscope::ui
