#pragma once
#include <optional>
#include <set>
#include <string>

#include "core/json_fwd.h"
#include "core/words.h"
#include "ui/theme.h"

namespace attnscope {

template <>
struct Words<ui::ThemeMode> : NamesAsWords<ui::ThemeMode> {};

namespace ui {

// A run that a person pinned as A. Its id in the history may change after a restart.
struct PinnedRun {
  std::string hash;  // of the run's experiment
  // When it ended, seconds since the epoch; of several runs of that experiment the nearest one counts.
  double at = 0;
  bool operator==(const PinnedRun&) const = default;
};

// The window's own saved settings. The session stores them under kSettingsKey.
struct WindowSettings {
  ThemeMode theme = ThemeMode::dark;
  float zoom = 1.0f;  // kMinZoom…kMaxZoom
  int width = 1600, height = 900;
  bool invited = false;             // the first start's invitation was accepted or dismissed
  std::set<std::string> closed;     // titles of panels that were closed
  std::string layout;               // Dear ImGui's own settings text; empty: the default layout
  std::string built_docks;          // docks_of() for the default layout when it was built
  bool tries = true;                // proposals of findings are run automatically
  std::optional<PinnedRun> pinned;  // empty: A is the previous run
  int layout_version = 0;           // version of the default layout that `layout` is based on

  bool operator==(const WindowSettings&) const = default;
  static constexpr float kMinZoom = 0.8f, kMaxZoom = 2.0f;
};

inline constexpr const char* kSettingsKey = "window";

Json to_json(const WindowSettings& settings);
// Values out of range get their default, so that a damaged file never prevents the window from opening.
WindowSettings window_settings_from_json(const Json& json);

}  // namespace ui
}  // namespace attnscope
