#include "core/experiment.h"

#include "core/experiment_fields.h"
#include "core/hash.h"

namespace attnscope {

void FieldsOf<MeasurePolicy>::check(JsonReader& read, MeasurePolicy& policy) {
  if (policy.sampled_share == 0) read.fault("sampled_share", "must be above 0");
}

void FieldsOf<Experiment>::check(JsonReader& read, Experiment&) {
  read.required("kernel");
  read.ignore("hash");  // derived; a reader that verifies it compares it with hash_of()
}

std::string hash_of(const Experiment& experiment) { return xxh3_128(to_json(experiment).dump()); }

Json to_json(const Experiment& experiment) { return write_fields(experiment); }

Result<Experiment> experiment_from_json(const Json& json, const std::string& where) {
  return read_fields<Experiment>(json, where, Stage::input);
}

}  // namespace attnscope
