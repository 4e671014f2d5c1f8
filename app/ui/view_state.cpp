#include "ui/view_state.h"

#include <nlohmann/json.hpp>

namespace attnscope::ui {
namespace {

void whole(const Json& json, const char* key, int64_t& out) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_number_integer() && found->get<int64_t>() >= 0) out = found->get<int64_t>();
}

template <Worded E>
void word(const Json& json, const char* key, E& out) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return;
  if (const auto known = parse_word<E>(found->get<std::string>())) out = *known;
}

}  // namespace

Json to_json(const ViewState& view) {
  return Json{{"map", word_of(view.map)},
              {"batch", view.batch},
              {"head", view.head},
              {"latency_axis", word_of(view.latency_axis)},
              {"latency_view", word_of(view.latency_view)}};
}

void adopt(ViewState& view, const Json& json) {
  if (!json.is_object()) return;
  MapKind map = view.map;
  word(json, "map", map);
  if (map != MapKind::attention) view.map = map;  // attention has its own panel
  whole(json, "batch", view.batch);
  whole(json, "head", view.head);
  word(json, "latency_axis", view.latency_axis);
  word(json, "latency_view", view.latency_view);
}

}  // namespace attnscope::ui
