#pragma once
#include <imgui.h>

#include <string>

#include "ui/glossary.h"

namespace attnscope::ui {

// Wide enough for the longest shipped knob name, and at most two fifths of the panel.
float label_width();
// A control's name to its left. On hover it shows `explanation`, or the glossary's sentence if that is empty.
void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width);
// The same with a reset button at the column's end, item "<words>/reset". `to` names the default; if it is empty, the
// control is at its default and there is no button, but its space stays reserved. Returns true if the button was
// pressed.
bool label_with_reset(const Glossary& glossary, const std::string& words, const std::string& explanation, float width,
                      const std::string& to);
// An icon without a frame; its colour shows whether it is enabled. `quiet`: it stands out only under the mouse. Returns
// true if it was pressed.
bool icon_button(const char* id, const char* icon, ImVec2 size, bool enabled, bool quiet = false);
// The primary button of its place, in the accent colour. Returns true if it was pressed.
bool leading_button(const char* words, ImVec2 size = {});
// A reset button at the right end of the last section heading, for all controls of the section; `what` describes it.
// Faint if there is nothing to reset. Returns true if it was pressed.
bool reset_of_section(const char* id, bool as_they_are, const std::string& what);

}  // namespace attnscope::ui
