#include "ui/view_state.h"

#include "core/fields.h"

namespace attnscope {

template <>
struct FieldsOf<ui::ViewState> {
  using Of = ui::ViewState;
  static constexpr Limits kPlace{.low = 0};
  static constexpr auto list =
      std::tuple{Field{"map", &Of::map}, Field{"batch", &Of::batch, kPlace}, Field{"head", &Of::head, kPlace},
                 Field{"latency_axis", &Of::latency_axis}, Field{"latency_view", &Of::latency_view}};
};

namespace ui {

Json to_json(const ViewState& view) { return write_fields(view); }

void adopt(ViewState& view, const Json& json) {
  const MapKind map = view.map;
  adopt_fields(json, view);
  if (view.map == MapKind::attention) view.map = map;  // it has its own panel
}

}  // namespace ui
}  // namespace attnscope
