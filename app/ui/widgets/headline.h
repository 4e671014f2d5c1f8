#pragma once
#include "core/headline.h"
#include "ui/theme.h"

namespace attnscope::ui {

struct HeadlineLook {
  const char* icon;
  ImU32 colour;
};

// The colour and mark of a headline. A racy kernel's correct output is not good news, and agreement with another kernel
// is less than correct, so each has its own.
HeadlineLook look_of(Headline headline);

}  // namespace attnscope::ui
