#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/observation.h"

namespace attnscope::ui {

// What a scan found out about a value, drawn behind its text.
struct RailMark {
  float level = 0;  // its time relative to the longest, 0…1; 0: no time
  FigureKind kind = FigureKind::modelled;
  bool best = false, tie = false;
  bool faulty = false;  // wrong, failed, or the watch found an error
  std::string about;    // for the tooltip
};

// A value of a control, legal or not.
struct RailValue {
  int64_t value = 0;
  std::string text;
  bool legal = true;
  std::string reason;     // why it is not legal, or a legal value's warning
  bool beckoned = false;  // outlined as an invitation
  bool moot = false;      // no value of this control is legal, so the cause is elsewhere
  std::optional<RailMark> mark = {};
};

// Where a rail or a value of it was drawn, in screen coordinates.
struct RailPlace {
  float x = 0, y = 0, width = 0, height = 0;
};

struct RailEvent {
  std::optional<int64_t> chosen;  // a legal value other than the current one was pressed or dragged onto
  std::optional<size_t> refused;  // index of a pressed illegal value, whose reason should be shown
  bool pressed = false;           // a gesture began
  bool released = false;          // a gesture ended
  // The values whose centre is visible, and where they are.
  std::vector<std::pair<int64_t, RailPlace>> in_sight = {};
};

// A slider with readable steps: all values in a row of equal cells, the current one filled. A press, a drag or the
// arrow keys choose a value. Illegal values are struck through and say why on hover. Cells are items "id/<text>" for
// tests. Uses several rows if the values do not fit the width.
RailEvent value_rail(const char* id, const std::vector<RailValue>& values, int64_t current, float width,
                     bool current_is_bad);

}  // namespace attnscope::ui
