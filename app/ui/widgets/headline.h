#pragma once
#include "core/headline.h"
#include "ui/theme.h"

namespace attnscope::ui {

struct HeadlineLook {
  const char* icon;
  ImU32 colour;
};

// A correct output of a racy kernel is no good news: it is told in another colour and with another mark.
HeadlineLook look_of(Headline headline);

}  // namespace attnscope::ui
