#include "ui/widgets/headline.h"

#include "ui/icons.h"

namespace attnscope::ui {

HeadlineLook look_of(Headline headline) {
  if (headline == Headline::correct) return {ICON_CHECK_CIRCLE, palette().good};
  if (headline == Headline::agrees) return {ICON_CHECK, palette().text};
  if (headline == Headline::wrong) return {ICON_TIMES_CIRCLE, palette().bad};
  if (is_of_watch(headline)) return {ICON_WARNING, palette().bad};
  return {ICON_QUESTION, palette().dim};
}

}  // namespace attnscope::ui
