#pragma once
#include <string>
#include <vector>

#include "ui/glossary.h"

namespace attnscope::ui {

struct Stat {
  std::string name;  // its glossary entry
  std::string value;
  bool bad = false;
  std::string a{};  // A's value; empty: none is shown
};

// Figures side by side in equal columns, each value above its name, and A's below if any of them has one.
void stat_row(const Glossary& glossary, const std::vector<Stat>& stats);

}  // namespace attnscope::ui
