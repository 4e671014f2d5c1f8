#include "cli/results_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "charts/format.h"
#include "charts/sheet.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/options.h"
#include "search/space.h"

namespace attnscope::cli {
namespace {

// The config's knobs and unusual compile options; may be empty.
std::string settings_text(const Config& config) {
  std::string text = charts::knobs_text(config, " ");
  const std::string options = charts::options_text(config, " ");
  return text + (text.empty() || options.empty() ? "" : " ") + options;
}

}  // namespace

const std::string& ran_on(const Observation& run) { return run.versions.gpu.empty() ? run.device : run.versions.gpu; }

std::string config_of(const Observation& run) {
  const std::string settings = settings_text(run.experiment.config);
  return run.experiment.kernel + (settings.empty() ? "" : " ") + settings;
}

Json options_json(const Config& config) {
  Json options = Json::object();
  for (const std::string& name : option_names()) {
    const search::Axis axis{name, {}, true};
    options[name] = search::value_json(Kernel(), axis, axis.value_in(config));
  }
  return options;
}

std::string line_of(const store::StoredObservation& stored) {
  const Observation& o = stored.observation;
  const std::string time =
      o.timing ? fmt::format("{} us {}{}", charts::terminal_us(o.timing->p50), to_string(o.timing->kind),
                             o.timing->cache == CacheState::cold ? ", cold" : "")
               : "";
  return one_line(fmt::format(
      "{}  {:<14} {:>22}  {:<10} {:<14} {}  {}", charts::date_of(stored.finished_at).substr(0, 16), o.experiment.kernel,
      time, charts::result_word(o), ran_on(o), short_text(o.experiment.problem), settings_text(o.experiment.config)));
}

std::string csv_head() { return fmt::format("{}", fmt::join(charts::run_columns(), ",")); }

std::string csv_line(const store::StoredObservation& stored) {
  return charts::csv_line(charts::run_cells(stored.observation, stored.finished_at));
}

std::string json_line(const store::StoredObservation& stored) {
  return json_text(Json{{"finished_at", stored.finished_at}, {"observation", to_json(stored.observation)}});
}

}  // namespace attnscope::cli
