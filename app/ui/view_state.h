#pragma once
#include <cstdint>

#include "charts/latency_axis.h"
#include "core/json_fwd.h"
#include "core/view.h"

namespace attnscope::ui {

// What the panels show besides the experiment itself. A preset stores it, so that it opens as it was saved.
struct ViewState {
  MapKind map = MapKind::error;  // in the error panel
  int64_t batch = 0, head = 0;   // of every map
  charts::AxisChoice latency_axis = charts::AxisChoice::automatic;
  bool operator==(const ViewState&) const = default;
};

Json to_json(const ViewState& view);
// Takes the valid entries of the object; the rest stays unchanged.
void adopt(ViewState& view, const Json& json);

}  // namespace attnscope::ui
