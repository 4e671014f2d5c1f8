#pragma once
#include <filesystem>
#include <string>

#include "ui/context.h"

namespace attnscope::ui {

// Asks where to save a file and writes it: a plot, a table, a run.
class SaveDialog {
 public:
  // `name` is the proposed file name, in the folder of the last saved file; at first the home folder.
  void open(const std::string& name, std::string bytes);
  void draw(Context& context);

 private:
  bool opens_ = false;
  std::filesystem::path folder_;
  std::string path_, bytes_;
  std::string refusal_;  // why the last attempt failed
};

}  // namespace attnscope::ui
