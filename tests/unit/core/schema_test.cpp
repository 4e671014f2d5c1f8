// docs/observation.schema.json says what the field lists say. After a change of a list, write it again with
//   ATTNSCOPE_WRITE_SCHEMA=1 core_tests --gtest_filter='Schema.*' && python3 cmake/python_types.py
// which also writes the Python package's types.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/experiment_fields.h"
#include "core/observation_fields.h"

namespace attnscope {
namespace {

const std::string kPath = std::string(ATTNSCOPE_SOURCE_DIR) + "/docs/observation.schema.json";

template <class V>
Json schema_of(const Limits& limits);

Json number_schema(const Limits& limits) {
  Json json{{"type", "number"}};
  if (limits.low > -Limits::kMost) json["minimum"] = limits.low;
  if (limits.high < Limits::kMost) json["maximum"] = limits.high;
  // A number, or the word for a value that JSON has no number for.
  return limits.open ? Json{{"anyOf", {json, {{"enum", {"nan", "inf", "-inf"}}}}}} : json;
}

Json object_of(Json properties) {
  Json required = Json::array();
  for (const auto& [key, unused] : properties.items()) required.push_back(key);
  return Json{{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties", false}};
}

void described(Json& schema, std::string_view about) {
  if (!about.empty()) schema["description"] = std::string(about);
}

template <class T, class M>
void add(Json& properties, const Field<T, M>& field) {
  described(properties[field.key] = schema_of<M>(field.limits), field.about);
}

template <class T>
void add(Json& properties, const Ends<T>& ends) {
  described(properties[ends.key] = {{"type", "array"},
                                    {"items", number_schema(ends.limits)},
                                    {"minItems", 2},
                                    {"maxItems", 2}},
            ends.about);
}

template <class... F>
void add(Json& properties, const Group<F...>& group) {
  Json inner = Json::object();
  std::apply([&](const auto&... field) { (add(inner, field), ...); }, group.fields);
  properties[group.key] = object_of(std::move(inner));
}

// The fields that are not always there.
template <class T, class V, class... F>
void add(Json& properties, const When<T, V, F...>& when) {
  std::apply([&](const auto&... field) { (add(properties, field), ...); }, when.fields);
}

// {"if": the field has the value, "then": what it needs} of each condition.
template <class T, class V, class... F>
void add_condition(Json& conditions, Json& always, const When<T, V, F...>& when) {
  Json properties = Json::object(), needed = Json::array();
  add(properties, when);
  for (const auto& [key, unused] : properties.items()) {
    needed.push_back(key);
    always.erase(key);
  }
  Json has{{"properties", {{when.key, {{"const", word_of(when.value)}}}}}};
  conditions.push_back({{"if", when.equal ? has : Json{{"not", has}}}, {"then", {{"required", needed}}}});
}

template <class T, class M>
void add_condition(Json&, Json& always, const Field<T, M>& field) {
  if (field.limits.sparse) always.erase(field.key);
}

template <class F, class Row>
void add_condition(Json& conditions, Json& always, const Shown<F, Row>& shown) {
  add_condition(conditions, always, static_cast<const F&>(shown));
}

template <class Other>
void add_condition(Json&, Json&, const Other&) {}

template <Listed T>
Json properties_of() {
  Json properties = Json::object();
  std::apply([&](const auto&... field) { (add(properties, field), ...); }, FieldsOf<T>::list);
  if constexpr (requires { FieldsOf<T>::derived; })
    described(properties[FieldsOf<T>::derived.key] = schema_of<decltype(FieldsOf<T>::derived.of({}))>({}),
              FieldsOf<T>::derived.about);
  return properties;
}

template <class V>
Json schema_of(const Limits& limits) {
  if constexpr (std::is_same_v<V, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<V>) {
    Json json = number_schema(limits);
    json["type"] = "integer";
    if (std::is_unsigned_v<V>) json["minimum"] = 0;
    for (const char* end : {"minimum", "maximum"})
      if (json.contains(end)) json[end] = json[end].get<int64_t>();
    return json;
  } else if constexpr (std::is_same_v<V, double>) {
    return number_schema(limits);
  } else if constexpr (std::is_same_v<V, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (Worded<V>) {
    Json words = Json::array();
    for (const auto& [value, word] : Words<V>::table) words.push_back(std::string(word));
    return {{"enum", std::move(words)}};
  } else if constexpr (fields::Optional<V>) {
    return {{"anyOf", {schema_of<typename V::value_type>(limits), {{"type", "null"}}}}};
  } else if constexpr (fields::Vector<V>) {
    return {{"type", "array"}, {"items", schema_of<typename V::value_type>(limits)}};
  } else if constexpr (fields::Map<V>) {
    return {{"type", "object"}, {"additionalProperties", schema_of<typename V::mapped_type>(limits)}};
  } else if constexpr (Named<V>) {
    return {{"type", "string"}};
  } else {
    Json properties = properties_of<V>(), always = properties, conditions = Json::array();
    std::apply([&](const auto&... field) { (add_condition(conditions, always, field), ...); }, FieldsOf<V>::list);
    Json object = object_of(std::move(properties));
    object["required"] = object_of(std::move(always))["required"];
    if (!conditions.empty()) object["allOf"] = std::move(conditions);
    return object;
  }
}

TEST(Schema, SaysWhatTheFieldListsSay) {
  std::ifstream file(kPath);
  std::stringstream text;
  text << file.rdbuf();
  const Json there = Json::parse(text.str());
  Json expected = there;
  Json properties = properties_of<Observation>();
  Json& experiment = properties["experiment"] = schema_of<Experiment>({});
  experiment["properties"]["hash"] = {{"type", "string"},
                                      {"pattern", "^[0-9a-f]{32}$"},
                                      {"description", "XXH3-128 of the canonical JSON of the other keys"}};
  experiment["required"].push_back("hash");
  Json always = properties, none;
  std::apply([&](const auto&... field) { (add_condition(none, always, field), ...); }, FieldsOf<Observation>::list);
  expected.update(object_of(std::move(properties)));
  expected["required"] = object_of(std::move(always))["required"];
  if (std::getenv("ATTNSCOPE_WRITE_SCHEMA") != nullptr) std::ofstream(kPath) << expected.dump(1) << "\n";
  EXPECT_EQ(there, expected) << "docs/observation.schema.json is not what the lists say; see this file's head";
}

}  // namespace
}  // namespace attnscope
