#pragma once
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/words.h"

namespace attnscope {

// Parses text from outside. Nesting deeper than 64, duplicate keys and trailing bytes are refused.
Result<Json> parse_json(std::string_view text, const std::string& where, Stage stage = Stage::input);
// As above. `keys` become those of the object at `member` of the outermost one, in the order of the text, which Json
// does not keep.
Result<Json> parse_json(std::string_view text, const std::string& where, std::string_view member,
                        std::vector<std::string>& keys);

// "where/key: 5 is outside 6…9", with the limits in the hint.
Failure out_of_range(Stage stage, const std::string& where, const char* key, int64_t value, int64_t low, int64_t high);

// Reads an object from outside, field by field. Keeps the first fault, as "where/pointer: reason". Every reader method
// marks its key as known; finish() refuses keys that were not read.
class JsonReader {
 public:
  // `json` must outlive the reader.
  JsonReader(const Json& json, std::string where, Stage stage = Stage::input);
  JsonReader(const Json&& json, std::string where, Stage stage = Stage::input) = delete;

  bool has(const char* key);  // present and not null
  // Each method leaves `out` unchanged if the key is absent; required(...) makes absence a fault.
  void boolean(const char* key, bool& out);
  void integer(const char* key, int64_t& out, int64_t low = std::numeric_limits<int64_t>::min(),
               int64_t high = std::numeric_limits<int64_t>::max());
  void integer(const char* key, int& out, int low, int high);
  void unsigned_integer(const char* key, uint64_t& out);
  void number(const char* key,
              double& out);  // null reads as NaN: JSON has no NaN or Inf, and to_json writes null (see number_json)
  void number(const char* key, double& out, double low, double high);  // finite, and in low…high
  void text(const char* key, std::string& out, size_t max_bytes = 1 << 20);
  void line(const char* key, std::string& out, size_t max_bytes);  // a text without line ends and control characters
  void required(const char* key);
  void ignore(const char* key) { known_.insert(key); }
  // The value itself, marked as known; null pointer if it is absent.
  const Json* value(const char* key);
  const std::string& where() const { return where_; }
  std::string path(const std::string& key) const { return where_ + "/" + key; }
  Stage stage() const { return stage_; }

  // An object at `key`, read by body(reader).
  template <class Body>
  void object(const char* key, Body body) {
    if (!has(key)) return;
    JsonReader inner(*value(key), path(key), stage_);
    body(inner);
    if (auto done = inner.finish(); !done) adopt(done.error());
  }
  // An object at `key` whose keys are names: each is read by one(reader, name).
  template <class One>
  void entries(const char* key, One one) {
    object(key, [&](JsonReader& inner) {
      if (inner.json_.is_object())
        for (const auto& [name, unused] : inner.json_.items()) one(inner, name.c_str());
    });
  }
  // A value at `key`; parse(json, where) returns it as a Result.
  template <class T, class Parse>
  void part(const char* key, T& out, Parse parse) {
    if (!has(key)) return;
    if (auto parsed = parse(*value(key), path(key)))
      out = std::move(*parsed);
    else
      adopt(parsed.error());
  }

  template <Worded E>
  void word(const char* key, E& out) {
    std::string name;
    if (!has(key)) return;
    text(key, name);
    if (failure_) return;
    if (auto parsed = parse_word<E>(name, stage_))
      out = *parsed;
    else
      fault(key, parsed.error().message, parsed.error().hint);
  }

  void fault(const std::string& key, const std::string& reason, const std::string& hint = {});
  void adopt(const Failure& failure) {
    if (!failure_) failure_ = failure;
  }
  bool failed() const { return failure_.has_value(); }
  Result<void> finish(bool refuse_unknown = true);

 private:
  const Json& json_;
  std::string where_;
  Stage stage_;
  std::set<std::string> known_;
  std::optional<Failure> failure_;
};

// NaN and infinities as the strings "nan", "inf", "-inf": JSON has no such numbers, and null would not say which one it
// was.
Json number_json(double value);

}  // namespace attnscope
