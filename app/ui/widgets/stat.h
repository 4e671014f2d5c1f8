#pragma once
#include <string>
#include <vector>

#include "ui/glossary.h"

namespace attnscope::ui {

struct Stat {
  std::string name;  // its glossary word
  std::string value;
  bool bad = false;
};

// Figures side by side in equal columns, each its value over its name.
void stat_row(const Glossary& glossary, const std::vector<Stat>& stats);

}  // namespace attnscope::ui
