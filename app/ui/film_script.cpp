#include "ui/film_script.h"

#include <algorithm>
#include <array>

#include "core/fields.h"
#include "platform/json_file.h"

namespace attnscope {

using ui::FilmAct;
using ui::FilmScript;

namespace {
constexpr uint64_t kMaxBytes = 1 << 16;
constexpr Limits kName{.bytes = 200, .line = true};
constexpr Limits kHold{.low = 0.1, .high = 30};
}  // namespace

template <>
struct FieldsOf<FilmAct> {
  static constexpr auto list =
      std::tuple{Field{"turn", &FilmAct::turn, kName}, Field{"panel", &FilmAct::panel, kName},
                 Field{"action", &FilmAct::action, kName}, Field{"hold", &FilmAct::hold, kHold}};
  static void check(JsonReader& read, FilmAct& act) {
    const std::array<bool, 3> does{!act.turn.empty(), !act.panel.empty(), !act.action.empty()};
    if (std::ranges::count(does, true) > 1)
      read.fault(does[0] ? "turn" : "panel", "stands beside another thing to do",
                 "An act does one thing: split it into two acts.");
  }
};

template <>
struct FieldsOf<FilmScript> {
  static constexpr auto list = std::tuple{Field{"hold", &FilmScript::hold, kHold},
                                          Field{"acts", &FilmScript::acts, Limits{.most = 200, .required = true}}};
};

namespace ui {

Result<FilmScript> read_film(const std::filesystem::path& path) {
  auto json = platform::read_json(path, kMaxBytes, Stage::input);
  return json ? read_fields<FilmScript>(*json, path.string(), Stage::input) : fail(json.error());
}

}  // namespace ui
}  // namespace attnscope
