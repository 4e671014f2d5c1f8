#pragma once
#include <string>
#include <vector>

#include "ui/glossary.h"

namespace attnscope::ui {

struct Stat {
  std::string name;  // its glossary entry
  std::string value;
  bool bad = false;
};

// Figures side by side in equal columns, each value above its name.
void stat_row(const Glossary& glossary, const std::vector<Stat>& stats);

}  // namespace attnscope::ui
