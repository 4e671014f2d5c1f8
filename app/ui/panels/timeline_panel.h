#pragma once
#include <string>

#include "core/sm_timeline.h"
#include "ui/panels/panels.h"
#include "ui/theme.h"

namespace attnscope::ui {

// The model's simulation of the shown run over time: the CTAs of every SM, and the states of one SM's warps. It is
// requested only while the panel is visible, so that other runs do not pay for it.
class TimelinePanel : public Panel {
 public:
  const char* title() const override { return kTimelineTitle; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  const TimelineAsk& asked() const { return ask_; }

 private:
  struct Box;  // a picture's corner and size in pixels, and the clocks at its left and right edges

  void take(Context& context);
  void choose_launch(const Context& context, const SmTimeline& timeline);
  void draw_controls(Context& context, const SmTimeline& timeline);
  void draw_legend(const SmTimeline& timeline) const;
  void draw_ctas(const SmTimeline& timeline, ImVec2 size);
  void draw_warps(const SmTimeline& timeline, ImVec2 size);
  void draw_warp(const SmTimeline& drawn, size_t warp, const Box& box) const;
  void hover_warps(const SmTimeline& timeline, const Box& box);
  void zoom(const SmTimeline& timeline, double factor);
  void show_clocks(double from, double to);

  TimelineAsk ask_;
  std::string of_;                     // experiment hash
  session::Shared<Observation> seen_;  // the observation that of_ belongs to
  session::Shared<Listing> listing_;   // for ask_, or for the previous request until its answer arrives
  session::Shared<Listing> drawn_of_;
  SmTimeline drawn_;  // drawn_of_ in the columns that are drawn
  std::string missing_;
  bool waits_ = false;
  bool warps_leave_ = false;  // the export menu belongs to the warps
  double dragged_from_ = -1;  // in clocks; negative: no drag
};

}  // namespace attnscope::ui
