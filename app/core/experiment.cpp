#include "core/experiment.h"

#include "core/fields.h"
#include "core/hash.h"

namespace attnscope {

template <>
struct FieldsOf<MeasurePolicy> {
  static constexpr auto list = std::tuple{Field{"cache", &MeasurePolicy::cache},
                                          Field{"sampled_share", &MeasurePolicy::sampled_share, Limits{.open = true}},
                                          Field{"max_time_ms", &MeasurePolicy::max_time_ms, Limits{1, 3600000}}};
};

Json to_json(const MeasurePolicy& policy) { return write_fields(policy); }

Result<MeasurePolicy> measure_policy_from_json(const Json& json, const std::string& where) {
  MeasurePolicy policy;
  JsonReader read(json, where);
  read_fields_into(read, policy);
  if (!(policy.sampled_share > 0 && policy.sampled_share <= 1))
    read.fault("sampled_share", "must be above 0 and at most 1");
  if (auto done = read.finish(); !done) return fail(done.error());
  return policy;
}

namespace {

Result<Config> config_from_json(const Json& json, const std::string& where) {
  Config config;
  JsonReader read(json, where);
  if (const Json* knobs = read.value("knobs")) {
    JsonReader inner(*knobs, where + "/knobs");
    if (knobs->is_object())
      for (const auto& [name, unused] : knobs->items()) inner.integer(name.c_str(), config.knobs[name]);
    if (auto done = inner.finish(); !done) return fail(done.error());
  }
  if (const Json* options = read.value("options")) {
    auto parsed = compile_options_from_json(*options, where + "/options");
    if (!parsed) return fail(parsed.error());
    config.options = *parsed;
  }
  if (auto done = read.finish(); !done) return fail(done.error());
  return config;
}

}  // namespace

std::string hash_of(const Experiment& experiment) { return xxh3_128(to_json(experiment).dump()); }

Json to_json(const Experiment& e) {
  return Json{{"problem", to_json(e.problem)},
              {"kernel", {{"id", e.kernel}, {"hash", e.kernel_hash}}},
              {"config", to_json(e.config)},
              {"device", e.device},
              {"measure", to_json(e.measure)}};
}

Result<Experiment> experiment_from_json(const Json& json, const std::string& where) {
  Experiment e;
  JsonReader read(json, where);
  for (const char* key : {"problem", "kernel", "config", "device"}) read.required(key);
  read.ignore("hash");  // derived; a reader that wants to hold it to account compares with hash_of
  read.text("device", e.device, 200);
  if (read.failed()) return fail(read.finish().error());
  JsonReader kernel(*read.value("kernel"), where + "/kernel");
  kernel.required("id");
  kernel.text("id", e.kernel, 200);
  kernel.text("hash", e.kernel_hash, 64);
  if (auto done = kernel.finish(); !done) return fail(done.error());
  auto problem = problem_from_json(*read.value("problem"), where + "/problem");
  if (!problem) return fail(problem.error());
  e.problem = *problem;
  auto config = config_from_json(*read.value("config"), where + "/config");
  if (!config) return fail(config.error());
  e.config = *config;
  if (read.has("measure")) {
    auto policy = measure_policy_from_json(*read.value("measure"), where + "/measure");
    if (!policy) return fail(policy.error());
    e.measure = *policy;
  }
  if (auto done = read.finish(); !done) return fail(done.error());
  return e;
}

}  // namespace attnscope
