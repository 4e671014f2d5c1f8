#include "cli/results_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>

#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

// A damaged or foreign row may have any time; years above 9999 are not written.
std::string date_of(double finished_at) {
  constexpr double kEndOf9999 = 253402300800.0;
  if (!(finished_at >= 0 && finished_at < kEndOf9999)) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(finished_at)));
}

std::string config_of(const Config& config, const char* between) {
  std::vector<std::string> knobs;
  for (const auto& [knob, value] : config.knobs) knobs.push_back(fmt::format("{}={}", knob, value));
  return fmt::format("{}", fmt::join(knobs, between));
}

// Why there is no time, what is wrong, or that it is correct.
std::string word_of_result(const Observation& o) {
  if (const auto headline = headline_of(o)) return std::string(to_string(*headline));
  return o.failure ? fmt::format("{} failed", to_string(o.failure->stage)) : "not run";
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

std::string line_of(const store::StoredObservation& stored) {
  const Observation& o = stored.observation;
  const std::string time = o.timing ? fmt::format("{:.1f} us {}{}", o.timing->p50, to_string(o.timing->kind),
                                                  o.timing->cache == CacheState::cold ? ", cold" : "")
                                    : "";
  const std::string& device = o.versions.gpu.empty() ? o.device : o.versions.gpu;
  return one_line(fmt::format("{}  {:<14} {:>22}  {:<10} {:<14} {}  {}", date_of(stored.finished_at).substr(0, 16),
                              o.experiment.kernel, time, word_of_result(o), device, short_text(o.experiment.problem),
                              config_of(o.experiment.config, " ")));
}

std::string csv_head() {
  return "finished_at,kernel,config,problem,device,gpu,us,us_low,us_high,kind,cache,result,tflops,registers,"
         "static_shared_bytes,dynamic_shared_bytes,occupancy,app,hash";
}

std::string csv_line(const store::StoredObservation& stored) {
  const Observation& o = stored.observation;
  std::vector<std::string> cells{date_of(stored.finished_at),
                                 csv_text(o.experiment.kernel),
                                 csv_text(config_of(o.experiment.config, ";")),
                                 csv_text(short_text(o.experiment.problem)),
                                 csv_text(o.device),
                                 csv_text(o.versions.gpu)};
  const auto add = [&](bool known, const auto& text) { cells.push_back(known ? text() : std::string()); };
  add(o.timing.has_value(), [&] { return number(o.timing->p50); });
  add(o.timing.has_value(), [&] { return number(o.timing->interval_low); });
  add(o.timing.has_value(), [&] { return number(o.timing->interval_high); });
  add(o.timing.has_value(), [&] { return std::string(to_string(o.timing->kind)); });
  add(o.timing.has_value(), [&] { return std::string(to_string(o.timing->cache)); });
  cells.push_back(csv_text(word_of_result(o)));
  add(o.tflops.has_value(), [&] { return number(*o.tflops); });
  add(o.variant.has_value(), [&] { return fmt::format("{}", o.variant->registers); });
  add(o.variant.has_value(), [&] { return fmt::format("{}", o.variant->static_shared_bytes); });
  add(o.variant.has_value(), [&] { return fmt::format("{}", o.variant->dynamic_shared_bytes); });
  add(o.occupancy.has_value(), [&] { return number(o.occupancy->fraction); });
  cells.push_back(csv_text(o.versions.app));
  cells.push_back(csv_text(o.hash));
  return fmt::format("{}", fmt::join(cells, ","));
}

std::string json_line(const store::StoredObservation& stored) {
  return json_text(Json{{"finished_at", stored.finished_at}, {"observation", to_json(stored.observation)}});
}

}  // namespace attnscope::cli
