#pragma once
#include <cstdint>

#include "charts/latency_axis.h"
#include "core/json_fwd.h"
#include "core/view.h"

namespace attnscope {
namespace ui {

// What the latency panel plots: every run in order, the values of one knob, or runs under the device's ceilings.
enum class LatencyView { runs, knob, roofline };

}  // namespace ui

template <>
struct Words<ui::LatencyView> : NamesAsWords<ui::LatencyView> {};

namespace ui {

// What the panels show besides the experiment. A preset stores it, so that it opens as it was saved.
struct ViewState {
  MapKind map = MapKind::error;  // in the error panel
  int64_t batch = 0, head = 0;   // of every map
  charts::AxisChoice latency_axis = charts::AxisChoice::automatic;
  LatencyView latency_view = LatencyView::runs;
  bool operator==(const ViewState&) const = default;
};

Json to_json(const ViewState& view);
// Takes the valid entries of the object; the rest of `view` stays unchanged.
void adopt(ViewState& view, const Json& json);

}  // namespace ui
}  // namespace attnscope
