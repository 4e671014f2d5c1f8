#include "ui/view_state.h"

#include <nlohmann/json.hpp>

namespace attnscope::ui {
namespace {

constexpr MapKind kErrorMaps[] = {MapKind::error, MapKind::output, MapKind::reference};

void whole(const Json& json, const char* key, int64_t& out) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_number_integer() && found->get<int64_t>() >= 0) out = found->get<int64_t>();
}

}  // namespace

Json to_json(const ViewState& view) {
  return Json{{"map", std::string(to_string(view.map))},
              {"batch", view.batch},
              {"head", view.head},
              {"latency_axis", std::string(charts::to_string(view.latency_axis))}};
}

void adopt(ViewState& view, const Json& json) {
  if (!json.is_object()) return;
  if (const auto map = json.find("map"); map != json.end())
    for (const MapKind kind : kErrorMaps)
      if (*map == std::string(to_string(kind))) view.map = kind;
  whole(json, "batch", view.batch);
  whole(json, "head", view.head);
  if (const auto axis = json.find("latency_axis"); axis != json.end() && axis->is_string())
    if (const auto choice = charts::axis_choice(axis->get<std::string>())) view.latency_axis = *choice;
}

}  // namespace attnscope::ui
