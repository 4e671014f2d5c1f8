#include "ui/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace attnscope::ui {
namespace {

int whole_in(const Json& json, const char* key, int fallback, int low, int high) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return fallback;
  const int64_t value = found->get<int64_t>();
  return value < low || value > high ? fallback : static_cast<int>(value);
}

}  // namespace

Json to_json(const WindowSettings& settings) {
  return Json{{"theme", word_of(settings.theme)},
              {"zoom", settings.zoom},
              {"width", settings.width},
              {"height", settings.height},
              {"invited", settings.invited},
              {"closed", settings.closed},
              {"layout", settings.layout},
              {"pinned", settings.pinned ? Json{{"hash", settings.pinned->hash}, {"at", settings.pinned->at}} : Json()},
              {"tries", settings.tries},
              {"built_docks", settings.built_docks},
              {"layout_version", settings.layout_version}};
}

WindowSettings window_settings_from_json(const Json& json) {
  WindowSettings settings;
  if (!json.is_object()) return settings;
  if (json.contains("theme") && json["theme"].is_string())
    settings.theme = parse_word<ThemeMode>(json["theme"].get<std::string>()).value_or(settings.theme);
  if (json.contains("zoom") && json["zoom"].is_number())
    settings.zoom = std::clamp(json["zoom"].get<float>(), WindowSettings::kMinZoom, WindowSettings::kMaxZoom);
  settings.width = whole_in(json, "width", settings.width, 640, 16384);
  settings.height = whole_in(json, "height", settings.height, 400, 16384);
  if (json.contains("invited") && json["invited"].is_boolean()) settings.invited = json["invited"].get<bool>();
  if (json.contains("tries") && json["tries"].is_boolean()) settings.tries = json["tries"].get<bool>();
  if (json.contains("closed") && json["closed"].is_array())
    for (const Json& title : json["closed"])
      if (title.is_string()) settings.closed.insert(title.get<std::string>());
  if (json.contains("layout") && json["layout"].is_string()) settings.layout = json["layout"].get<std::string>();
  if (json.contains("built_docks") && json["built_docks"].is_string())
    settings.built_docks = json["built_docks"].get<std::string>();
  if (const auto pin = json.find("pinned"); pin != json.end() && pin->is_object()) {
    const auto hash = pin->find("hash"), at = pin->find("at");
    if (hash != pin->end() && hash->is_string() && at != pin->end() && at->is_number())
      settings.pinned = PinnedRun{hash->get<std::string>(), at->get<double>()};
  }
  settings.layout_version = whole_in(json, "layout_version", 0, 0, 1000000);
  return settings;
}

}  // namespace attnscope::ui
