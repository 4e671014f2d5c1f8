#include "search/recorded.h"

#include <map>
#include <set>

#include "core/json.h"

namespace attnscope::search {

Result<Recorded> recorded_of(const std::vector<RecordedRow>& rows, const std::string& configuration) {
  Recorded recorded;
  std::map<std::string, std::set<Json>> values;  // by knob; JSON sorts numbers by size and texts alphabetically
  for (const RecordedRow& row : rows) {
    recorded.runs.push_back(row.run);
    for (const auto& [knob, value] : row.configuration->items()) values[knob].insert(value);
  }
  for (const auto& [knob, of_knob] : values) recorded.knobs.push_back(knob);
  std::vector<std::vector<size_t>> points;
  std::set<std::vector<size_t>> seen;
  for (const RecordedRow& row : rows) {
    std::vector<size_t>& point = points.emplace_back();
    for (const auto& [knob, of_knob] : values) {
      const auto value = row.configuration->find(knob);
      if (value == row.configuration->end()) return fail(Stage::input, row.where + configuration + ": has no " + knob);
      point.push_back(static_cast<size_t>(std::distance(of_knob.begin(), of_knob.find(*value))));
    }
    if (!seen.insert(point).second) return fail(Stage::input, row.where + ": its config is there twice");
  }
  recorded.grid = Grid(std::move(points));
  return recorded;
}

}  // namespace attnscope::search
