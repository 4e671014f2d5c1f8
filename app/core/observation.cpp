#include "core/observation.h"

#include <algorithm>

#include "core/observation_fields.h"

namespace attnscope {

ATTNSCOPE_OBSERVATION_MEMBERS(ATTNSCOPE_COMPILED_HERE)

bool WatchReport::has_errors() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.severity == Severity::error; });
}

Json to_json(const Observation& o) {
  Json json = write_fields(o);
  Json& experiment = json["experiment"] = to_json(o.experiment);
  experiment["hash"] = o.hash;
  return json;
}

Result<Observation> observation_from_json(const Json& json, const std::string& where) {
  Observation o;
  JsonReader read(json, where, Stage::protocol);
  read.required("experiment");
  if (read.failed()) return fail(read.finish().error());
  auto experiment = experiment_from_json(*read.value("experiment"), where + "/experiment");
  if (!experiment) return fail(experiment.error());
  o.experiment = *experiment;
  o.hash = hash_of(o.experiment);
  read_fields_into(read, o);
  if (auto done = read.finish(); !done) return fail(done.error());
  return o;
}

}  // namespace attnscope
