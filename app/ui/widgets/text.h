#pragma once
#include <string>
#include <string_view>

#include "core/observation.h"
#include "core/result.h"
#include "ui/glossary.h"
#include "ui/theme.h"

namespace attnscope::ui {

void text(std::string_view words);
void dim_text(std::string_view words);
void small_text(std::string_view words, ImU32 colour);
void wrapped(std::string_view words, ImU32 colour, float size = 0);  // size 0: unchanged
// Wrapped, and cut after the last word that fits into `height` pixels. The tooltip shows the whole text.
void wrapped_to_fit(std::string_view words, ImU32 colour, float size, float height);
// Text cut to `width` pixels with an ellipsis. The tooltip shows the whole text.
void clipped(std::string_view words, float width, ImU32 colour);
// The text, cut with an ellipsis to at most that many pixels.
std::string shortened(std::string_view words, float width);
float width_of(std::string_view words);

// A wrapped tooltip for the last item, after the usual delay.
void tooltip(std::string_view words);
// A tooltip in the text's font, even where code's font is set, and that many ems wide.
void text_tooltip(std::string_view words, float ems);
// A word with its glossary sentence: dotted underline, explained on hover. Unknown words are plain text.
void term(const Glossary& glossary, std::string_view word, std::string_view shown = {}, ImU32 colour = 0);
// Shows the glossary's sentence as the last item's tooltip, if there is one.
void explain(const Glossary& glossary, std::string_view word);

// The most important figure: a large number with its unit on the same baseline.
void big_figure(std::string_view number, std::string_view unit, ImU32 colour);

// The mark of a kind: measured a disc, counted a square, modelled a hollow diamond, reported a dashed line.
void draw_kind_mark(ImDrawList* list, ImVec2 centre, float radius, FigureKind kind, float alpha = 1);
// The mark of a modelled figure in another colour.
void draw_diamond(ImDrawList* list, ImVec2 centre, float radius, ImU32 colour);
// Mark and word in the kind's colour, explained on hover.
void kind_badge(const Glossary& glossary, FigureKind kind);

// The badge at the right end of the current line, after the figure.
void kind_badge_at_right(const Glossary& glossary, FigureKind kind);

}  // namespace attnscope::ui
