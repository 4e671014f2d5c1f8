#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/json.h"
#include "core/words.h"

namespace attnscope {

// A value's fields, listed once: its reader, its writer and its part of docs/observation.schema.json go over one list.
//
//   template <>
//   struct FieldsOf<Occupancy> {
//     static constexpr auto list = std::tuple{Field{"waves", &Occupancy::waves, kCount, "grid over resident CTAs"}, …};
//   };

// What a reader refuses.
struct Limits {
  static constexpr double kMost = 1e300;  // of figures without a limit of their own: finite
  double low = -kMost, high = kMost;      // of a number, and of each number in an array
  size_t most = 4096;                     // entries of an array
  size_t bytes = 1 << 20;                 // of a text, and of each text in an array
  bool open = false;                      // NaN and infinities too, written as words: JSON has no such numbers
  bool line = false;                      // a text without line ends and control characters
  bool required = false;                  // its absence is a fault; else the default stays
};

template <class T, class M>
struct Field {
  const char* key;
  M T::*member;
  Limits limits = {};
  std::string_view about = {};  // for the schema: unit and meaning, where the key does not say it
};
template <class T, class M>
Field(const char*, M T::*) -> Field<T, M>;
template <class T, class M>
Field(const char*, M T::*, Limits) -> Field<T, M>;
template <class T, class M>
Field(const char*, M T::*, Limits, std::string_view) -> Field<T, M>;

// Fields that stand in an object of their own in JSON: {"us": {"p10": …}}.
template <class... F>
struct Group {
  const char* key;
  std::tuple<F...> fields;
};
template <class... F>
Group(const char*, std::tuple<F...>) -> Group<F...>;

// Two numbers that stand in an array of two: {"interval": [low, high]}.
template <class T>
struct Ends {
  const char* key;
  double T::*low;
  double T::*high;
  Limits limits = {};
  std::string_view about = {};
};

// Fields that are there only where a field before them has `value`, or (`equal` is false) has another.
template <class T, class V, class... F>
struct When {
  const char* key;
  V T::*member;
  V value;
  bool equal;
  std::tuple<F...> fields;
  bool holds(const T& of) const { return (of.*member == value) == equal; }
};
template <class T, class V, class... F>
When(const char*, V T::*, V, bool, std::tuple<F...>) -> When<T, V, F...>;

// A field with its row in a table: what it is called there, and what stands beside it.
template <class F, class Row>
struct Shown {
  F field;
  Row row;
};
template <class F, class Row>
Shown(F, Row) -> Shown<F, Row>;

template <class T>
struct FieldsOf;
template <class T>
concept Listed = requires {
  FieldsOf<T>::list;
};

// A value that is read by a function of its own, and written by its to_json:
//   template <>
//   struct OwnReader<Experiment> {
//     static constexpr auto read = experiment_from_json;
//   };
template <class T>
struct OwnReader;
template <class T>
concept ReadsItself = requires {
  OwnReader<T>::read;
};

// A name from an open list: one that is not known is kept.
template <class T>
concept Named = requires(const T& value) {
  T::named(std::string());
  value.name();
};

template <class T>
Result<T> read_fields(const Json& json, const std::string& where, Stage stage = Stage::protocol);

namespace fields {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class V>
void read(JsonReader& reader, const char* key, V& out, const Limits& limits);

// An entry of an array.
template <class V>
Result<V> read_entry(const Json& json, const std::string& where, const Limits& limits, Stage stage) {
  if constexpr (ReadsItself<V>) {
    return OwnReader<V>::read(json, where);
  } else if constexpr (Listed<V>) {
    return read_fields<V>(json, where, stage);
  } else if constexpr (IsVector<V>::value) {
    if (!json.is_array()) return fail(stage, where + ": must be an array");
    if (json.size() > limits.most) return fail(stage, where + ": holds too many entries");
    V out;
    for (size_t i = 0; i < json.size(); ++i) {
      auto entry = read_entry<typename V::value_type>(json[i], where + "/" + std::to_string(i), limits, stage);
      if (!entry) return fail(entry.error());
      out.push_back(std::move(*entry));
    }
    return out;
  } else if constexpr (std::is_same_v<V, double>) {
    // MessagePack has numbers that are none.
    if (!json.is_number() || !(json.get<double>() >= limits.low && json.get<double>() <= limits.high))
      return fail(stage, where + ": must be a number within its limits");
    return json.get<double>();
  } else {
    static_assert(std::is_same_v<V, std::string>);
    if (!json.is_string() || json.get_ref<const std::string&>().size() > limits.bytes)
      return fail(stage, where + ": must be a text within its limit");
    return json.get<std::string>();
  }
}

// An absent key leaves `out` as it is. Null does too, but it empties an optional and an array.
template <class V>
void read(JsonReader& reader, const char* key, V& out, const Limits& limits) {
  if constexpr (std::is_same_v<V, bool>) {
    reader.boolean(key, out);
  } else if constexpr (std::is_same_v<V, int> || std::is_same_v<V, int64_t>) {
    const auto whole = [](double limit, V otherwise) {
      return limit <= -Limits::kMost || limit >= Limits::kMost ? otherwise : static_cast<V>(limit);
    };
    reader.integer(key, out, whole(limits.low, std::numeric_limits<V>::min()),
                   whole(limits.high, std::numeric_limits<V>::max()));
  } else if constexpr (std::is_same_v<V, double>) {
    if (limits.open)
      reader.number(key, out);
    else
      reader.number(key, out, limits.low, limits.high);
  } else if constexpr (std::is_same_v<V, uint64_t>) {
    reader.unsigned_integer(key, out);
  } else if constexpr (std::is_same_v<V, std::string>) {
    limits.line ? reader.line(key, out, limits.bytes) : reader.text(key, out, limits.bytes);
  } else if constexpr (Worded<V>) {
    reader.word(key, out);
  } else if constexpr (Named<V>) {
    std::string name(out.name());
    reader.text(key, name, limits.bytes);
    out = V::named(std::move(name));
  } else if constexpr (IsOptional<V>::value) {
    const Json* given = reader.value(key);
    if (given && given->is_null()) return out.reset();
    if (!given) return;
    typename V::value_type inner{};
    read(reader, key, inner, limits);
    if (!reader.failed()) out = std::move(inner);
  } else if constexpr (IsVector<V>::value) {
    const Json* given = reader.value(key);
    if (given && given->is_null()) return out.clear();
    reader.part(key, out, [&](const Json& json, const std::string& where) {
      return read_entry<V>(json, where, limits, reader.stage());
    });
  } else if constexpr (IsMap<V>::value) {
    reader.entries(key, [&](JsonReader& inner, const char* name) { read(inner, name, out[name], limits); });
  } else {
    reader.part(key, out, [&](const Json& json, const std::string& where) {
      return read_entry<V>(json, where, limits, reader.stage());
    });
  }
}

// T is what the field's struct is, or what is derived from it.
template <class T, class Of, class M>
void read_one(JsonReader& reader, T& out, const Field<Of, M>& field) {
  if (field.limits.required) reader.required(field.key);
  read(reader, field.key, out.*field.member, field.limits);
}

template <class T, class F, class Row>
void read_one(JsonReader& reader, T& out, const Shown<F, Row>& shown) {
  read_one(reader, out, shown.field);
}

template <class T, class Of>
void read_one(JsonReader& reader, T& out, const Ends<Of>& ends) {
  std::vector<double> both;
  read(reader, ends.key, both, ends.limits);
  if (reader.failed() || !reader.has(ends.key)) return;
  if (both.size() != 2) return reader.fault(ends.key, "must be two numbers");
  out.*ends.low = both[0];
  out.*ends.high = both[1];
}

template <class T, class... F>
void read_one(JsonReader& reader, T& out, const Group<F...>& group) {
  reader.object(group.key, [&](JsonReader& inner) {
    std::apply([&](const auto&... field) { (read_one(inner, out, field), ...); }, group.fields);
  });
}

template <class T, class Of, class V, class... F>
void read_one(JsonReader& reader, T& out, const When<Of, V, F...>& when) {
  if (when.holds(out)) std::apply([&](const auto&... field) { (read_one(reader, out, field), ...); }, when.fields);
}

template <class V>
Json written(const V& value, const Limits& limits);

template <class T, class Of, class M>
void write_one(Json& json, const T& value, const Field<Of, M>& field) {
  json[field.key] = written(value.*field.member, field.limits);
}

template <class T, class F, class Row>
void write_one(Json& json, const T& value, const Shown<F, Row>& shown) {
  write_one(json, value, shown.field);
}

template <class T, class Of>
void write_one(Json& json, const T& value, const Ends<Of>& ends) {
  json[ends.key] = Json::array({value.*ends.low, value.*ends.high});
}

template <class T, class... F>
void write_one(Json& json, const T& value, const Group<F...>& group) {
  Json& inner = json[group.key] = Json::object();
  std::apply([&](const auto&... field) { (write_one(inner, value, field), ...); }, group.fields);
}

template <class T, class Of, class V, class... F>
void write_one(Json& json, const T& value, const When<Of, V, F...>& when) {
  if (when.holds(value)) std::apply([&](const auto&... field) { (write_one(json, value, field), ...); }, when.fields);
}

template <class V>
Json written(const V& value, const Limits& limits) {
  if constexpr (std::is_same_v<V, double>) {
    return limits.open ? number_json(value) : Json(value);
  } else if constexpr (Worded<V>) {
    return word_of(value);
  } else if constexpr (Named<V>) {
    return value.name();
  } else if constexpr (IsOptional<V>::value) {
    return value ? written(*value, limits) : Json(nullptr);
  } else if constexpr (IsVector<V>::value) {
    Json array = Json::array();
    for (const auto& entry : value) array.push_back(written(entry, limits));
    return array;
  } else if constexpr (ReadsItself<V>) {
    return to_json(value);
  } else if constexpr (Listed<V>) {
    Json json = Json::object();
    std::apply([&](const auto&... field) { (write_one(json, value, field), ...); }, FieldsOf<V>::list);
    return json;
  } else {
    return Json(value);
  }
}

}  // namespace fields

// The fields that `reader` has go into `out`; the others stay as they are. What no single field can say of a value,
// FieldsOf<T>::check(reader, out) does.
template <Listed T>
void read_fields_into(JsonReader& reader, T& out) {
  std::apply([&](const auto&... field) { (fields::read_one(reader, out, field), ...); }, FieldsOf<T>::list);
  if constexpr (requires { FieldsOf<T>::check(reader, out); })
    if (!reader.failed()) FieldsOf<T>::check(reader, out);
}

// A Failure names the first fault by its JSON pointer behind `where`; an unknown key is one.
template <class T>
Result<T> read_fields(const Json& json, const std::string& where, Stage stage) {
  T out{};
  JsonReader reader(json, where, stage);
  read_fields_into(reader, out);
  if (auto done = reader.finish(); !done) return fail(done.error());
  return out;
}

// Every key is written; null where an optional is empty.
template <Listed T>
Json write_fields(const T& value) {
  return fields::written(value, {});
}

}  // namespace attnscope
