#include "protocol/part.h"

#include "core/observation_fields.h"

namespace attnscope::protocol {
namespace {

// Calls visit(field) for each key of a part: the Observation's own and the timing's.
template <class Visit>
void each_field(Visit visit) {
  for_each_field(FieldsOf<Observation>::list, visit);
  visit(Field{"bound", &Timing::bound});
}

}  // namespace

void apply_part(Observation& observation, const Part& part) {
  each_field([&]<class T, class M>(const Field<T, M>& field) {
    for (const PartValue& value : part.values) {
      const M* given = std::get_if<M>(&value);
      if (given == nullptr) continue;
      if constexpr (std::is_same_v<T, Observation>)
        observation.*field.member = *given;
      else if (observation.timing && *given != M{})
        (*observation.timing).*field.member = *given;
    }
  });
}

Json to_json(const std::vector<PartValue>& values) {
  Json json = Json::object();
  each_field([&]<class T, class M>(const Field<T, M>& field) {
    for (const PartValue& value : values)
      if (const M* given = std::get_if<M>(&value)) json[field.key] = fields::written(*given, field.limits);
  });
  return json;
}

Result<std::vector<PartValue>> part_values_from_json(const Json& json) {
  std::vector<PartValue> values;
  JsonReader reader(json, "part", Stage::protocol);
  each_field([&]<class T, class M>(const Field<T, M>& field) {
    constexpr bool kMayBeEmpty = fields::Optional<M> || fields::Vector<M>;
    if (kMayBeEmpty ? reader.value(field.key) == nullptr : !reader.has(field.key)) return;
    M value{};
    fields::read(reader, field.key, value, field.limits);
    values.emplace_back(std::move(value));
  });
  if (auto done = reader.finish(); !done) return fail(done.error());
  return values;
}

}  // namespace attnscope::protocol
