#pragma once
#include <string>
#include <vector>

#include "ui/panels/panel.h"

namespace attnscope::ui {

class LogPanel : public Panel {
 public:
  const char* title() const override { return "Log"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

 private:
  std::string filter_;
  bool follow_ = true;
  const void* filtered_of_ = nullptr;  // the log that lines_ index
  std::string filtered_by_;
  std::vector<int> lines_;
};

}  // namespace attnscope::ui
