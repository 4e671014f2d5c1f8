#include "search/t4.h"

#include <vector>

#include "core/json.h"

namespace attnscope::search {
namespace {

constexpr const char* kVersion = "1.0.0";
constexpr const char* kObjective = "time";
constexpr const char* kModelled = "modelled_time";
constexpr const char* kModelling = "modelling_time";  // CPU seconds

double number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

double total(const Json& object, const char* key) {
  const auto found = object.find(key);
  double sum = 0;
  if (found != object.end() && found->is_array())
    for (const Json& one : *found) sum += one.is_number() ? one.get<double>() : 0;
  return sum;
}

// The measurement with that name; empty if there is none above 0.
std::optional<double> measured(const Json& result, const std::string& name) {
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return std::nullopt;
  for (const Json& one : *measurements)
    if (one.is_object() && one.value("name", Json()) == name && number_at(one, "value") > 0)
      return number_at(one, "value");
  return std::nullopt;
}

// The first objective's measurement.
std::optional<double> objective_of(const Json& result) {
  std::string wanted = kObjective;
  if (const auto named = result.find("objectives"); named != result.end() && named->is_array() && !named->empty())
    if (named->front().is_string()) wanted = named->front().get<std::string>();
  return measured(result, wanted);
}

Result<Recorded::Run> run_of(const Json& result, const std::string& where) {
  const auto times = result.find("times"), invalidity = result.find("invalidity");
  if (times == result.end() || !times->is_object()) return fail(Stage::input, where + "/times: must be an object");
  if (invalidity == result.end() || !invalidity->is_string())
    return fail(Stage::input, where + "/invalidity: must be a word");
  auto kind = parse_word<Invalidity>(invalidity->get<std::string>());
  if (!kind) return fail(Stage::input, where + "/invalidity: " + kind.error().message, kind.error().hint);
  Recorded::Run run;
  for (const char* key : {"compilation_time", "compilation", "framework", "validation", "benchmark"})
    run.seconds += number_at(*times, key) / 1000;
  if (!times->contains("benchmark")) run.seconds += total(*times, "runtimes") / 1000;
  if (*kind == Invalidity::correct) run.ms = objective_of(result);
  run.modelled_ms = measured(result, kModelled);
  run.modelling_seconds = measured(result, kModelling).value_or(0);
  return run;
}

}  // namespace

Json t4_of(const std::vector<T4Result>& results) {
  Json list = Json::array();
  for (const T4Result& one : results) {
    Json configuration = Json::object();
    for (const auto& [knob, value] : one.configuration) configuration[knob] = value;
    Json measurements = Json::array();
    if (one.ms) measurements.push_back({{"name", kObjective}, {"value", *one.ms}, {"unit", "ms"}});
    if (one.modelled_ms) measurements.push_back({{"name", kModelled}, {"value", *one.modelled_ms}, {"unit", "ms"}});
    list.push_back({{"configuration", std::move(configuration)},
                    {"times",
                     {{"compilation", one.compile_ms},  // Kernel Tuner's name; the schema says compilation_time
                      {"runtimes", one.runtimes_ms},
                      {"framework", 0},
                      {"search_algorithm", 0},
                      {"validation", 0}}},
                    {"invalidity", word_of(one.invalidity)},
                    {"correctness", one.invalidity == Invalidity::correct ? 1 : 0},
                    {"measurements", std::move(measurements)},
                    {"objectives", {kObjective}}});
  }
  return {{"schema_version", kVersion}, {"results", std::move(list)}};
}

Result<Recorded> recorded_from_t4(const Json& json, const std::string& where) {
  const auto results = json.is_object() ? json.find("results") : json.end();
  if (results == json.end() || !results->is_array() || results->empty())
    return fail(Stage::input, where + "/results: must be a list of results",
                "Give a T4 file of an autotuner, or a cache file of Kernel Tuner.");
  std::vector<RecordedRow> rows;
  for (size_t at = 0; at < results->size(); ++at) {
    const Json& result = (*results)[at];
    const std::string here = where + "/results/" + std::to_string(at);
    const auto configuration = result.is_object() ? result.find("configuration") : result.end();
    if (configuration == result.end() || !configuration->is_object() || configuration->empty())
      return fail(Stage::input, here + "/configuration: must be an object with the value of each knob");
    auto run = run_of(result, here);
    if (!run) return fail(run.error());
    rows.push_back({&*configuration, *run, here});
  }
  return recorded_of(rows, "/configuration");
}

}  // namespace attnscope::search
