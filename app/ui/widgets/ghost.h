#pragma once
#include <optional>
#include <string>

#include "ui/context.h"

namespace attnscope::ui {

// A's part, to show beside the shown one; null if there is none.
template <class T>
const T* ghost_of(const Context& context, std::optional<T> Observation::*part) {
  const Observation* a = context.baseline.ghost;
  return a != nullptr && (a->*part) ? &*(a->*part) : nullptr;
}

// Why A's figures are not beside B's although there is an A: "A is another problem: B1 H8 S512 D64 against B1 H8 S4096
// D64". Empty if they are, or if there is no A.
std::string why_no_ghost(const Context& context);
// Draws that as one line, or nothing.
void ghost_note(const Context& context);

// Dashes across the height of a bar, at A's end of it, and A's letter beside them where it has room.
void ghost_dashes(ImVec2 top, float height, float room);
// A dashed horizontal or vertical line of A's, one pixel wide, over what is B's.
void ghost_line(ImVec2 from, ImVec2 to, ImU32 colour);

}  // namespace attnscope::ui
