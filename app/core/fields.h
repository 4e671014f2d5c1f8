#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/binary_json.h"
#include "core/json.h"
#include "core/words.h"

namespace attnscope {

// A value's fields, listed once: its reader, its writer and its part of docs/observation.schema.json use the same list.
//
//   template <>
//   struct FieldsOf<Occupancy> {
//     static constexpr auto list = std::tuple{Field{"waves", &Occupancy::waves, kCount, "grid over resident CTAs"}, …};
//   };

// What a reader refuses.
struct Limits {
  static constexpr double kMost = 1e300;  // limit of figures without their own, which keeps them finite
  double low = -kMost, high = kMost;      // of a number, and of each number in an array
  size_t most = 4096;                     // entries of an array
  size_t bytes = 1 << 20;                 // of a text or bytes, and of each in an array
  bool open = false;                      // NaN and infinities too, written as words: JSON has no such numbers
  bool line = false;                      // a text without line ends and control characters
  bool binary = false;                    // a text that stands as bytes
  bool required = false;                  // its absence is a fault; otherwise the default stays
  bool sparse = false;                    // an empty optional or list, 0, a first word or default fields are left out
};

template <class T, class M>
struct Field {
  const char* key;
  M T::*member;
  Limits limits = {};
  std::string_view about = {};  // for the schema: unit and meaning, where the key does not give them
};
template <class T, class M>
Field(const char*, M T::*, Limits = {}, std::string_view = {}) -> Field<T, M>;

// Fields that form their own object in JSON: {"us": {"p10": …}}.
template <class... F>
struct Group {
  const char* key;
  std::tuple<F...> fields;
};
template <class... F>
Group(const char*, std::tuple<F...>) -> Group<F...>;

// Two numbers that form an array in JSON: {"interval": [low, high]}.
template <class T>
struct Ends {
  const char* key;
  double T::*low;
  double T::*high;
  Limits limits = {};
  std::string_view about = {};
};

// Fields that exist only if an earlier field has `value`, or, with `equal` false, only if it has another value.
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

// A field with its row in a table, which holds its label and what is shown with it.
template <class F, class Row>
struct Shown : F {
  Row row;
};
template <class F, class Row>
Shown(F, Row) -> Shown<F, Row>;

// Calls visit(field) for each field of a list.
template <class... F, class Visit>
void for_each_field(const std::tuple<F...>& list, Visit visit) {
  std::apply([&](const F&... field) { (visit(field), ...); }, list);
}

template <class T>
struct FieldsOf;
template <class T>
concept Listed = requires {
  FieldsOf<T>::list;
};

// A value with its own reader; its to_json writes it:
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

// A name from an open list: unknown names are kept.
template <class T>
concept Named = requires(const T& value) {
  T::named(std::string());
  value.name();
};

template <class T>
Result<T> read_fields(const Json& json, const std::string& where, Stage stage = Stage::protocol);

namespace fields {

template <class V>
concept Optional = std::is_same_v<V, std::optional<typename V::value_type>>;
template <class V>
concept Vector = std::is_same_v<V, std::vector<typename V::value_type>>;
template <class V>
concept Array = std::is_same_v<V, std::array<typename V::value_type, std::tuple_size<V>::value>>;
template <class V>
concept Map = std::is_same_v<V, std::map<std::string, typename V::mapped_type>>;
template <class V>
concept Set = std::is_same_v<V, std::set<typename V::key_type>>;
// Numbers stored as bytes, little-endian.
template <class V>
concept Packed = std::is_same_v<V, std::vector<uint8_t>> || std::is_same_v<V, std::vector<std::byte>> ||
    std::is_same_v<V, std::vector<float>>;

template <class V>
void read(JsonReader& reader, const char* key, V& out, const Limits& limits);

template <class V>
Result<V> read_bytes(const Json& json, const std::string& where, const Limits& limits, Stage stage) {
  V out;
  if (!json.is_binary()) return fail(stage, where + ": must be bytes");
  const auto& bytes = json.get_binary();
  if (bytes.size() > limits.bytes || bytes.size() % sizeof(out[0]) != 0)
    return fail(stage, where + ": does not have its number of bytes");
  out.resize(bytes.size() / sizeof(out[0]));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

// A value that is an element of an array or has fields of its own.
template <class V>
Result<V> read_value(const Json& json, const std::string& where, const Limits& limits, Stage stage) {
  if constexpr (ReadsItself<V>) {
    return OwnReader<V>::read(json, where);
  } else if constexpr (Listed<V>) {
    return read_fields<V>(json, where, stage);
  } else if constexpr (Packed<V>) {
    return read_bytes<V>(json, where, limits, stage);
  } else if constexpr (Vector<V> || Array<V>) {
    if (!json.is_array()) return fail(stage, where + ": must be a list");
    V out{};
    if constexpr (Vector<V>) out.resize(std::min(json.size(), limits.most));
    if (json.size() != out.size())
      return fail(stage, where + ": holds " + std::to_string(json.size()) + " entries; " +
                             (Vector<V> ? "at most " : "") + std::to_string(out.size()) + " are taken");
    for (size_t i = 0; i < out.size(); ++i) {
      auto entry = read_value<typename V::value_type>(json[i], where + "/" + std::to_string(i), limits, stage);
      if (!entry) return fail(entry.error());
      out[i] = std::move(*entry);
    }
    return out;
  } else if constexpr (std::is_arithmetic_v<V>) {
    // MessagePack, unlike JSON, can hold NaN.
    const bool kind = std::is_integral_v<V> ? json.is_number_integer() : json.is_number();
    if (!kind || !(json.get<double>() >= limits.low && json.get<double>() <= limits.high))
      return fail(stage, where + ": must be a number within its limits");
    return json.get<V>();
  } else if constexpr (Named<V>) {
    return read_value<std::string>(json, where, limits, stage).map(V::named);
  } else {
    static_assert(std::is_same_v<V, std::string>);
    if (limits.binary) return read_bytes<V>(json, where, limits, stage);
    if (!json.is_string() || json.get_ref<const std::string&>().size() > limits.bytes)
      return fail(stage, where + ": must be a text within its limit");
    return json.get<std::string>();
  }
}

// An absent key leaves `out` unchanged. Null does so too, but it empties an optional and an array.
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
  } else if constexpr (std::is_floating_point_v<V>) {
    double number = static_cast<double>(out);
    limits.open ? reader.number(key, number) : reader.number(key, number, limits.low, limits.high);
    out = static_cast<V>(number);
  } else if constexpr (std::is_same_v<V, uint64_t>) {
    reader.unsigned_integer(key, out);
  } else if constexpr (Worded<V>) {
    reader.word(key, out);
  } else if constexpr (Named<V>) {
    std::string name(out.name());
    reader.text(key, name, limits.bytes);
    out = V::named(std::move(name));
  } else if constexpr (Optional<V>) {
    const Json* given = reader.value(key);
    if (given && given->is_null()) return out.reset();
    if (!given) return;
    typename V::value_type inner{};
    read(reader, key, inner, limits);
    if (!reader.failed()) out = std::move(inner);
  } else if constexpr (Map<V>) {
    reader.entries(key, [&](JsonReader& inner, const char* name) { read(inner, name, out[name], limits); });
  } else {
    if constexpr (Vector<V>) {
      const Json* given = reader.value(key);
      if (given && given->is_null()) return out.clear();
    }
    if constexpr (std::is_same_v<V, std::string>)
      if (!limits.binary)
        return limits.line ? reader.line(key, out, limits.bytes) : reader.text(key, out, limits.bytes);
    reader.part(key, out, [&](const Json& json, const std::string& where) {
      return read_value<V>(json, where, limits, reader.stage());
    });
  }
}

// T is the field's struct or derived from it.
template <class T, class Of, class M>
void read_one(JsonReader& reader, T& out, const Field<Of, M>& field) {
  if (field.limits.required) reader.required(field.key);
  read(reader, field.key, out.*field.member, field.limits);
}

template <class T, class Of>
void read_one(JsonReader& reader, T& out, const Ends<Of>& ends) {
  std::array both{out.*ends.low, out.*ends.high};
  read(reader, ends.key, both, ends.limits);
  out.*ends.low = both[0];
  out.*ends.high = both[1];
}

template <class T, class... F>
void read_one(JsonReader& reader, T& out, const Group<F...>& group) {
  reader.object(group.key, [&](JsonReader& inner) {
    for_each_field(group.fields, [&](const auto& field) { read_one(inner, out, field); });
  });
}

template <class T, class Of, class V, class... F>
void read_one(JsonReader& reader, T& out, const When<Of, V, F...>& when) {
  if (when.holds(out)) for_each_field(when.fields, [&](const auto& field) { read_one(reader, out, field); });
}

template <class V>
Json written(const V& value, const Limits& limits);

template <class T, class Of, class M>
void write_one(Json& json, const T& value, const Field<Of, M>& field) {
  if constexpr (Optional<M>)
    if (field.limits.sparse && !(value.*field.member)) return;
  if constexpr (Vector<M>)
    if (field.limits.sparse && (value.*field.member).empty()) return;
  if constexpr (std::is_arithmetic_v<M> || Worded<M> || (Listed<M> && std::equality_comparable<M>))
    if (field.limits.sparse && value.*field.member == M{}) return;
  json[field.key] = written(value.*field.member, field.limits);
}

template <class T, class Of>
void write_one(Json& json, const T& value, const Ends<Of>& ends) {
  json[ends.key] = {value.*ends.low, value.*ends.high};
}

template <class T, class... F>
void write_one(Json& json, const T& value, const Group<F...>& group) {
  Json& inner = json[group.key] = Json::object();
  for_each_field(group.fields, [&](const auto& field) { write_one(inner, value, field); });
}

template <class T, class Of, class V, class... F>
void write_one(Json& json, const T& value, const When<Of, V, F...>& when) {
  if (when.holds(value)) for_each_field(when.fields, [&](const auto& field) { write_one(json, value, field); });
}

template <class V>
Json written_bytes(const V& value) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(value.data());
  return binary_json({bytes, bytes + value.size() * sizeof(value[0])});
}

// By its list. A type's own to_json() may call this, so it never calls that one.
template <Listed T>
Json written_list(const T& value) {
  Json json = Json::object();
  for_each_field(FieldsOf<T>::list, [&](const auto& field) { write_one(json, value, field); });
  if constexpr (requires { FieldsOf<T>::finish(json, value); }) FieldsOf<T>::finish(json, value);
  return json;
}

template <class V>
Json written(const V& value, const Limits& limits) {
  if constexpr (std::is_floating_point_v<V>) {
    return limits.open ? number_json(static_cast<double>(value)) : Json(value);
  } else if constexpr (Worded<V>) {
    return word_of(value);
  } else if constexpr (Named<V>) {
    return value.name();
  } else if constexpr (Optional<V>) {
    return value ? written(*value, limits) : Json(nullptr);
  } else if constexpr (Packed<V>) {
    return written_bytes(value);
  } else if constexpr (Vector<V> || Array<V> || Set<V>) {
    Json array = Json::array();
    for (const auto& entry : value) array.push_back(written(entry, limits));
    return array;
  } else if constexpr (ReadsItself<V>) {
    return to_json(value);
  } else if constexpr (Listed<V>) {
    return written_list(value);
  } else {
    if constexpr (std::is_same_v<V, std::string>)
      if (limits.binary) return written_bytes(value);
    return Json(value);
  }
}

}  // namespace fields

// Reads the fields that `reader` has into `out`; other members stay. Rules over several fields are in
// FieldsOf<T>::check(reader, out), called after reading, and FieldsOf<T>::finish(json, value), called after writing.
template <Listed T>
void read_fields_into(JsonReader& reader, T& out) {
  for_each_field(FieldsOf<T>::list, [&](const auto& field) { fields::read_one(reader, out, field); });
  if constexpr (requires { FieldsOf<T>::check(reader, out); })
    if (!reader.failed()) FieldsOf<T>::check(reader, out);
}

// A Failure names the first fault by its JSON pointer after `where`. An unknown key is a fault.
template <class T>
Result<T> read_fields(const Json& json, const std::string& where, Stage stage) {
  T out{};
  JsonReader reader(json, where, stage);
  read_fields_into(reader, out);
  if (auto done = reader.finish(); !done) return fail(done.error());
  return out;
}

// The same for a file that must never prevent a start: a field with a fault keeps its value, a set leaves out entries
// with a fault, and unknown keys are ignored.
template <Listed T>
void adopt_fields(const Json& json, T& out) {
  if (!json.is_object()) return;
  for_each_field(FieldsOf<T>::list, [&]<class Of, class M>(const Field<Of, M>& field) {
    if constexpr (fields::Set<M>) {
      const auto found = json.find(field.key);
      if (found == json.end() || !found->is_array()) return;
      for (const Json& entry : *found)
        if (auto one = fields::read_value<typename M::key_type>(entry, "", field.limits, Stage::input))
          (out.*field.member).insert(std::move(*one));
    } else {
      JsonReader reader(json, "");
      M value = out.*field.member;
      fields::read(reader, field.key, value, field.limits);
      if (!reader.failed()) out.*field.member = std::move(value);
    }
  });
}

// Writes every key except empty sparse ones; an empty optional is written as null.
template <Listed T>
Json write_fields(const T& value) {
  return fields::written_list(value);
}

}  // namespace attnscope
