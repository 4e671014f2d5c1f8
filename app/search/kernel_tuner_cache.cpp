#include "search/kernel_tuner_cache.h"

#include <array>
#include <cmath>
#include <deque>

#include "core/escape.h"
#include "core/json.h"

namespace attnscope::search {
namespace {

constexpr const char* kKnobs = "tune_params_keys";
constexpr const char* kTime = "time";
constexpr const char* kTimes = "times";
constexpr const char* kError = "__error__";
constexpr const char* kModelled = "modelled_time";
constexpr const char* kModelling = "modelling_time";  // CPU seconds
constexpr const char* kCompiling = "compile_time";
constexpr const char* kVerifying = "verification_time";
constexpr const char* kMeasuring = "benchmark_time";
constexpr double kNoTime = 1e20;  // what older versions wrote for a config without a time

enum class Error { any, invalid, compilation, runtime };
constexpr WordTable<Error, 4> kErrors{{{Error::any, "ErrorConfig"},
                                       {Error::invalid, "InvalidConfig"},
                                       {Error::compilation, "CompilationFailedConfig"},
                                       {Error::runtime, "RuntimeFailedConfig"}}};

// Kernel Tuner has no word for a wrong output or for one that does not end.
Error error_of(Invalidity why) {
  switch (why) {
    case Invalidity::constraints:
      return Error::invalid;
    case Invalidity::compile:
      return Error::compilation;
    default:
      return Error::runtime;
  }
}

// As Python's str() has it, of which Kernel Tuner makes the keys of its entries.
std::string python_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double one : values) sum += one;
  return sum;
}

Json entry_of(const T4Result& result) {
  Json entry = Json::object();
  for (const auto& [knob, value] : result.configuration) entry[knob] = value;
  entry[kTime] = result.ms ? Json(*result.ms) : Json(word_of(kErrors, error_of(result.invalidity)));
  entry[kTimes] = result.runtimes_ms;
  entry[kCompiling] = result.compile_ms;
  entry[kVerifying] = 0;
  entry[kMeasuring] = total(result.runtimes_ms);
  entry["strategy_time"] = 0;
  entry["framework_time"] = 0;
  if (result.modelled_ms) entry[kModelled] = *result.modelled_ms;
  return entry;
}

std::string objective_of(const Json& json) {
  const auto named = json.find("objective");
  if (named == json.end()) return kTime;
  const Json& one = named->is_array() && !named->empty() ? named->front() : *named;
  return one.is_string() ? one.get<std::string>() : kTime;
}

Failure wrong(const std::string& where, const std::string& key, const std::string& what) {
  return {Stage::input, where + "/" + key + ": " + what, "Give a cache file that Kernel Tuner wrote."};
}

// A part of a config's times, ms; 0: not recorded.
Result<double> part_of(const Json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end() || found->is_null()) return 0.0;
  if (!found->is_number() || !(found->get<double>() >= 0))
    return fail(wrong(where, key, "must be a time of 0 or more"));
  return found->get<double>();
}

Result<double> sum_of(const Json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end()) return 0.0;
  if (!found->is_array()) return fail(wrong(where, key, "must be a list of times"));
  double sum = 0;
  for (const Json& one : *found) {
    if (!one.is_number()) return fail(wrong(where, key, "must be a list of times"));
    sum += one.get<double>();
  }
  return sum;
}

Result<std::optional<double>> time_of(const Json& entry, const std::string& objective, const std::string& where) {
  if (entry.contains(kError)) return std::nullopt;
  const auto found = entry.find(objective);
  if (found == entry.end()) return fail(wrong(where, objective, "is missing"));
  if (found->is_string()) {
    auto error = value_of(kErrors, found->get<std::string>());
    if (!error) return fail(wrong(where, objective, error.error().message));
    return std::nullopt;
  }
  if (!found->is_number() || !(found->get<double>() > 0))
    return fail(wrong(where, objective, "must be a time above 0, or the reason why there is none"));
  const double ms = found->get<double>();
  return ms < kNoTime ? std::optional(ms) : std::nullopt;
}

Result<Recorded::Run> run_of(const Json& entry, const std::string& objective, const std::string& where) {
  Recorded::Run run;
  auto ms = time_of(entry, objective, where);
  if (!ms) return fail(ms.error());
  run.ms = *ms;
  for (const char* key : {kCompiling, kVerifying, "framework_time", kMeasuring}) {
    const auto part = part_of(entry, key, where);
    if (!part) return fail(part.error());
    run.seconds += *part / 1000;
  }
  const auto samples = sum_of(entry, kTimes, where);
  if (!samples) return fail(samples.error());
  if (!entry.contains(kMeasuring)) run.seconds += *samples / 1000;
  const auto modelled = part_of(entry, kModelled, where), modelling = part_of(entry, kModelling, where);
  if (!modelled) return fail(modelled.error());
  if (!modelling) return fail(modelling.error());
  if (*modelled > 0) run.modelled_ms = *modelled;
  run.modelling_seconds = *modelling;
  return run;
}

// A key as a step of a JSON pointer.
std::string step(const std::string& key) {
  std::string out;
  for (const char one : key) out += one == '~' ? "~0" : one == '/' ? "~1" : std::string(1, one);
  return out;
}

Result<std::vector<std::string>> knobs_of(const Json& json, const std::string& where) {
  const auto found = json.find(kKnobs);
  if (found == json.end() || !found->is_array() || found->empty())
    return fail(wrong(where, kKnobs, "must be a list of knobs"));
  std::vector<std::string> knobs;
  for (size_t at = 0; at < found->size(); ++at) {
    if (!(*found)[at].is_string())
      return fail(wrong(where, std::string(kKnobs) + "/" + std::to_string(at), "must be a name"));
    knobs.push_back((*found)[at].get<std::string>());
  }
  return knobs;
}

}  // namespace

std::string cache_text(const CacheHead& head, const std::vector<T4Result>& results) {
  // In Kernel Tuner's order, not in Json's: the knobs as they are in the keys of the entries, and the entries last,
  // because it appends to them.
  Json knobs = Json::array();
  std::string values;
  for (const auto& [knob, of_knob] : head.values) {
    knobs.push_back(knob);
    values += (values.empty() ? "" : ", ") + json_text(knob) + ": " + json_text(of_knob);
  }
  const std::array<std::pair<const char*, std::string>, 6> first{{{"device_name", json_text(head.device)},
                                                                  {"kernel_name", json_text(head.kernel)},
                                                                  {"problem_size", json_text(head.sizes)},
                                                                  {kKnobs, json_text(knobs)},
                                                                  {"tune_params", "{" + values + "}"},
                                                                  {"objective", json_text(kTime)}}};
  std::string out = "{\n";
  for (const auto& [key, text] : first) out += json_text(key) + ": " + text + ",\n";
  out += json_text(kCache) + ": {";
  for (size_t at = 0; at < results.size(); ++at) {
    std::string key;
    for (const auto& [knob, value] : results[at].configuration) key += (key.empty() ? "" : ",") + python_text(value);
    out += (at > 0 ? ",\n" : "\n") + json_text(key) + ": " + json_text(entry_of(results[at]));
  }
  return out + "}\n}\n";
}

bool is_cache(const Json& json) { return json.is_object() && json.contains(kCache) && !json.contains("results"); }

std::string closed_cache(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  return std::string(text.substr(0, text[last] == ',' ? last : last + 1)) + "}\n}";
}

Result<Recorded> recorded_from_cache(const Json& json, const std::vector<std::string>& keys, const std::string& where) {
  auto knobs = knobs_of(json, where);
  if (!knobs) return fail(knobs.error());
  const auto cache = json.find(kCache);
  if (cache == json.end() || !cache->is_object() || cache->empty())
    return fail(wrong(where, kCache, "must be an object with an entry for each config"));
  const std::string objective = objective_of(json);
  std::vector<RecordedRow> rows;
  std::deque<Json> configurations;  // does not move what the rows point to
  for (const std::string& key : keys) {
    const Json& entry = cache->at(key);
    const std::string here = where + "/" + kCache + "/" + step(key);
    if (!entry.is_object()) return fail(wrong(where, kCache + ("/" + step(key)), "must be an object"));
    Json& configuration = configurations.emplace_back(Json::object());
    for (const std::string& knob : *knobs) {
      const auto value = entry.find(knob);
      if (value == entry.end()) return fail(wrong(here, step(knob), "is missing"));
      if (value->is_structured()) return fail(wrong(here, step(knob), "must be a number or a word"));
      configuration[knob] = *value;
    }
    auto run = run_of(entry, objective, here);
    if (!run) return fail(run.error());
    rows.push_back({&configuration, *run, here});
  }
  return recorded_of(rows, "");
}

}  // namespace attnscope::search
