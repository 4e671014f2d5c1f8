#include "cli/results_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "charts/sheet.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {

const std::string& ran_on(const Observation& run) { return run.versions.gpu.empty() ? run.device : run.versions.gpu; }

std::string line_of(const store::StoredObservation& stored) {
  const Observation& o = stored.observation;
  const std::string time = o.timing ? fmt::format("{:.1f} us {}{}", o.timing->p50, to_string(o.timing->kind),
                                                  o.timing->cache == CacheState::cold ? ", cold" : "")
                                    : "";
  return one_line(fmt::format("{}  {:<14} {:>22}  {:<10} {:<14} {}  {}",
                              charts::date_of(stored.finished_at).substr(0, 16), o.experiment.kernel, time,
                              charts::result_word(o), ran_on(o), short_text(o.experiment.problem),
                              charts::knobs_text(o.experiment.config, " ")));
}

std::string csv_head() { return fmt::format("{}", fmt::join(charts::run_columns(), ",")); }

std::string csv_line(const store::StoredObservation& stored) {
  return charts::csv_line(charts::run_cells(stored.observation, stored.finished_at));
}

std::string json_line(const store::StoredObservation& stored) {
  return json_text(Json{{"finished_at", stored.finished_at}, {"observation", to_json(stored.observation)}});
}

}  // namespace attnscope::cli
