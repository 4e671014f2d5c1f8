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

// A run that a person pinned as A. Its number in the history can be another one after a restart.
struct PinnedRun {
  std::string hash;  // of its experiment
  double at = 0;     // when it ended, seconds since the epoch; of several runs of that experiment the nearest is meant
  bool operator==(const PinnedRun&) const = default;
};

// The window's own saved settings: the session stores them under kSettingsKey.
struct WindowSettings {
  ThemeMode theme = ThemeMode::dark;
  float zoom = 1.0f;  // kMinZoom…kMaxZoom
  int width = 1600, height = 900;
  bool invited = false;             // the first start's invitation was accepted or dismissed
  std::set<std::string> closed;     // titles of panels that were closed
  std::string layout;               // Dear ImGui's own settings text; empty: the default layout
  std::string built_docks;          // docks_of() the default layout when it was built
  bool tries = true;                // what findings propose is run on the side
  std::optional<PinnedRun> pinned;  // empty: A is the run before
  int layout_version = 0;           // of the default layout that `layout` started from

  bool operator==(const WindowSettings&) const = default;
  static constexpr float kMinZoom = 0.7f, kMaxZoom = 2.0f;
};

inline constexpr const char* kSettingsKey = "window";

Json to_json(const WindowSettings& settings);
// Values out of range take their default, so that a damaged file never prevents the window from opening.
WindowSettings window_settings_from_json(const Json& json);

}  // namespace ui
}  // namespace attnscope
