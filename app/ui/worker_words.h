#pragma once
#include <imgui.h>

#include <string>

#include "session/snapshot.h"

namespace attnscope::ui {

ImU32 colour_of(session::WorkerState state);
// The mark of a state at the cursor: a disc where the worker takes requests, otherwise a ring. Moves the cursor past
// it.
void draw_state_mark(session::WorkerState state);

// What helps against the worker's trouble, as a sentence or two; empty if it has none.
std::string advice_on(const session::WorkerStatus& worker);
// "1,980 MHz, 54 °C, 31 of 72 W, power cap": what a GPU reports, without what it does not.
std::string words_of(const GpuReading& reading);
// "12 ms", "0.25 ms"
std::string round_trip_words(double ms);

}  // namespace attnscope::ui
