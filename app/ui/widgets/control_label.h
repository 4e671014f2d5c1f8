#pragma once
#include <string>

#include "ui/glossary.h"

namespace attnscope::ui {

// Wide enough for the longest knob name that ships, and no wider than two fifths of the panel.
float label_width();
// A control's name to its left, explained on hover: by `explanation`, or by the glossary where that is empty.
void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width);

}  // namespace attnscope::ui
