#pragma once
#include <filesystem>
#include <utility>

#include "ui/panels/panel.h"
#include "ui/widgets/map_view.h"

namespace attnscope::ui {

// A panel around one map.
class MapPanel : public Panel {
 public:
  explicit MapPanel(std::filesystem::path shaders) : map_(std::move(shaders)) {}
  Dock dock() const override { return Dock::error; }
  // True if the map on the screen is complete and belongs to the shown experiment. For pictures and tests.
  bool map_complete() const { return map_complete_; }
  MapView& map() { return map_; }

 protected:
  MapView map_;
  bool map_complete_ = false;
};

}  // namespace attnscope::ui
