#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/json_fwd.h"
#include "core/result.h"
#include "ui/theme.h"

namespace attnscope::ui {

// What the window remembers of itself, in one JSON file of the config folder; docking and tables are in its "layout".
struct WindowSettings {
  ThemeMode theme = ThemeMode::dark;
  float zoom = 1.0f;  // kMinZoom…kMaxZoom
  int width = 1600, height = 900;
  bool invited = false;      // the first start's line of invitation was taken up or put away
  std::string layout;        // Dear ImGui's own settings text; empty: the default layout
  int layout_version = 0;    // of the default layout that `layout` started from

  bool operator==(const WindowSettings&) const = default;
  static constexpr float kMinZoom = 0.7f, kMaxZoom = 2.0f;
};

Json to_json(const WindowSettings& settings);
// Values out of range take their default, so that a damaged file never keeps the window from opening.
WindowSettings window_settings_from_json(const Json& json);

// A file that is not there is the defaults; one that cannot be read is the defaults and a Failure in `problem`.
WindowSettings load_window_settings(const std::filesystem::path& path, std::optional<Failure>& problem);
std::string text_of(const WindowSettings& settings);

}  // namespace attnscope::ui
