#pragma once
#include <imgui.h>

#include <optional>

#include "charts/term_table.h"
#include "ui/glossary.h"

namespace attnscope::ui {

ImU32 colour_of(TermKind kind);

// B's time as a bar of its terms, and A's above it on the same scale. Hovering shows a term's figures and its glossary
// sentence. Returns the term that was clicked; empty if none was. `chosen` is outlined.
std::optional<TermKind> term_bars(const charts::TermTable& table, std::optional<TermKind> chosen,
                                  const Glossary& glossary);

// A term's tooltip: its name, figures and sentence.
void term_tooltip(const charts::TermTable& table, const charts::TermRow& row, const Glossary& glossary);

}  // namespace attnscope::ui
