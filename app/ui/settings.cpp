#include "ui/settings.h"

#include <algorithm>

#include "core/fields.h"

namespace attnscope {

template <>
struct FieldsOf<ui::PinnedRun> {
  using Of = ui::PinnedRun;
  static constexpr Limits kRequired{.required = true};
  static constexpr auto list = std::tuple{Field{"hash", &Of::hash, kRequired}, Field{"at", &Of::at, kRequired}};
};

template <>
struct FieldsOf<ui::WindowSettings> {
  using Of = ui::WindowSettings;
  static constexpr auto list = std::tuple{Field{"theme", &Of::theme},
                                          Field{"zoom", &Of::zoom},
                                          Field{"width", &Of::width, Limits{.low = 640, .high = 16384}},
                                          Field{"height", &Of::height, Limits{.low = 400, .high = 16384}},
                                          Field{"invited", &Of::invited},
                                          Field{"closed", &Of::closed},
                                          Field{"layout", &Of::layout},
                                          Field{"built_docks", &Of::built_docks},
                                          Field{"tries", &Of::tries},
                                          Field{"pinned", &Of::pinned},
                                          Field{"layout_version", &Of::layout_version, Limits{.low = 0, .high = 1e6}}};
};

namespace ui {

Json to_json(const WindowSettings& settings) { return write_fields(settings); }

WindowSettings window_settings_from_json(const Json& json) {
  WindowSettings settings;
  adopt_fields(json, settings);
  settings.zoom = std::clamp(settings.zoom, WindowSettings::kMinZoom, WindowSettings::kMaxZoom);
  return settings;
}

}  // namespace ui
}  // namespace attnscope
