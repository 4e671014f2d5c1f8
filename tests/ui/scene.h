#pragma once
#include <string>

#include "ui/window_flow.h"

namespace attnscope::ui {

// A flow that ends in pictures, to look at: skipped unless ATTNSCOPE_SCENES names a folder for them.
class Scene : public WindowFlow {
 protected:
  void SetUp() override;
  void picture(const std::string& name);
};

}  // namespace attnscope::ui
