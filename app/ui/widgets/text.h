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
void wrapped(std::string_view words, ImU32 colour, float size = 0);  // size 0: as it is
// Wrapped, and cut after the last word that `height` pixels have room for; the whole of it is the tooltip.
void wrapped_to_fit(std::string_view words, ImU32 colour, float size, float height);
// Text cut to `width` pixels with an ellipsis; the whole of it is the tooltip.
void clipped(std::string_view words, float width, ImU32 colour);
// At most that many pixels wide, ending in an ellipsis where it was cut.
std::string shortened(std::string_view words, float width);
float width_of(std::string_view words);

// A tooltip for the last item, wrapped, after the usual delay.
void tooltip(std::string_view words);
// A word with its glossary sentence: underlined by dots, explained on hover. Unknown words are plain text.
void term(const Glossary& glossary, std::string_view word, std::string_view shown = {}, ImU32 colour = 0);
// The glossary's sentence as the last item's tooltip, if there is one.
void explain(const Glossary& glossary, std::string_view word);

// The figure a person wants first: number large, unit beside it on the same base line.
void big_figure(std::string_view number, std::string_view unit, ImU32 colour);

// The kind's own mark: measured a disc, counted a square, modelled a hollow diamond, reported a dashed line.
void draw_kind_mark(ImDrawList* list, ImVec2 centre, float radius, FigureKind kind, float alpha = 1);
// Mark and word in the kind's colour, explained on hover.
void kind_badge(const Glossary& glossary, FigureKind kind);

// The badge at the right end of the current line, which the figure before it began.
void kind_badge_at_right(const Glossary& glossary, FigureKind kind);

// A hair line across the content, with space around it.
void hair_line();

}  // namespace attnscope::ui
