#pragma once
#include <string>

#include "ui/glossary.h"

namespace attnscope::ui {

// Wide enough for the longest knob name that ships, and no wider than two fifths of the panel.
float label_width();
// A control's name to its left, explained on hover: by `explanation`, or by the glossary where that is empty.
void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width);
// The same with a button at the column's end, item "<words>/reset", where the control is not at its default: `to` says
// what that is; empty: it is. The place is kept in either case. True: it was pressed.
bool label_with_reset(const Glossary& glossary, const std::string& words, const std::string& explanation, float width,
                      const std::string& to);
// A reset at the right end of the section's heading that was drawn last, for all of its controls; `what` says what
// it does. Faint where there is nothing to reset. True: it was pressed.
bool reset_of_section(const char* id, bool as_they_are, const std::string& what);

}  // namespace attnscope::ui
