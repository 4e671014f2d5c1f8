#include "core/observation.h"

#include <algorithm>

#include "core/observation_fields.h"

namespace attnscope {

bool WatchReport::has_errors() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.severity == Severity::error; });
}

Json to_json(const Versions& v) { return write_fields(v); }
Json to_json(const VariantInfo& v) { return write_fields(v); }
Json to_json(const Occupancy& o) { return write_fields(o); }
Json to_json(const Verdict& v) { return write_fields(v); }
Json to_json(const Timing& t) { return write_fields(t); }
Json to_json(const Counters& c) { return write_fields(c); }
Json to_json(const Finding& f) { return write_fields(f); }
Json to_json(const WatchReport& w) { return write_fields(w); }
Json to_json(const Printed& p) { return write_fields(p); }
Json to_json(const Failure& f) { return write_fields(f); }

Result<Failure> failure_from_json(const Json& json, const std::string& where) {
  return read_fields<Failure>(json, where);
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

Result<void> apply_part(Observation& observation, const Json& part) {
  Observation next = observation;
  JsonReader read(part, "part", Stage::protocol);
  read_fields_into(read, next);
  Bound bound = Bound::unknown;
  fields::read(read, "bound", bound, {});
  if (next.timing && bound != Bound::unknown) next.timing->bound = bound;
  if (auto done = read.finish(); !done) return fail(done.error());
  observation = std::move(next);
  return {};
}

}  // namespace attnscope
