#include "core/json.h"

#include <fmt/format.h>

#include "core/escape.h"

namespace attnscope {

namespace {

// "[json.exception…] parse error at line 3, column 7: syntax error while parsing value - invalid literal; last read:
// 'no'" → "line 3, column 7 is not JSON: invalid literal; last read: 'no'". The parser quotes its input byte by byte; a
// message must be UTF-8 anyway.
std::string in_words(std::string reason) {
  for (char& byte : reason)
    if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';
  const size_t place = reason.find("line "), colon = reason.find(": ", place);
  if (place == std::string::npos || colon == std::string::npos) return "not JSON: " + reason;
  const size_t detail = reason.find(" - ", colon);
  return reason.substr(place, colon - place) +
         " is not JSON: " + reason.substr(detail == std::string::npos ? colon + 2 : detail + 3);
}

// A value as shown in a message. It came from outside, so it may have any content and length.
std::string shown(const Json& value) {
  constexpr size_t kMost = 100;
  const std::string text = json_text(value);
  return text.size() <= kMost ? text : one_line(std::string_view(text).substr(0, kMost)) + "…";
}

// on_key(depth, key) gets each key in the order of the text; the outermost object's have depth 1.
template <class OnKey>
Result<Json> parsed_json(std::string_view text, const std::string& where, Stage stage, OnKey on_key) {
  constexpr int kMaxDepth = 64;
  std::vector<std::set<std::string>> keys;
  std::string fault;
  auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) fault = "nested deeper than 64 levels";
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) fault = "the key \"" + key + "\" stands twice";
      on_key(depth, key);
    }
    return true;
  };
  // nlohmann's parser does not recurse; the depth check protects our own readers.
  try {
    Json json = Json::parse(text, watch);
    if (!fault.empty()) return fail(stage, where + ": " + fault, "Write each key once and nest less.");
    return json;
  } catch (const Json::exception& error) {
    return fail(stage, where + ": " + in_words(error.what()),
                "Correct the text there: a quote, comma or bracket is missing or extra, or it is not JSON at all.");
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& where, Stage stage) {
  return parsed_json(text, where, stage, [](int, const std::string&) {});
}

Result<Json> parse_json(std::string_view text, const std::string& where, std::string_view member,
                        std::vector<std::string>& keys) {
  keys.clear();
  bool inside = false;
  return parsed_json(text, where, Stage::input, [&](int depth, const std::string& key) {
    if (depth == 1) inside = key == member;
    if (depth == 2 && inside) keys.push_back(key);
  });
}

Failure out_of_range(Stage stage, const std::string& where, const char* key, int64_t value, int64_t low, int64_t high) {
  return {
      stage, fmt::format("{}/{}: {} is outside {}…{}", where, key, value, low, high),
      value < low ? fmt::format("Set {} to {} or more.", key, low) : fmt::format("Set {} to {} or less.", key, high)};
}

JsonReader::JsonReader(const Json& json, std::string where, Stage stage)
    : json_(json), where_(std::move(where)), stage_(stage) {
  if (!json_.is_object()) failure_ = Failure{stage_, where_ + ": must be an object", "Write { … } here."};
}

void JsonReader::fault(const std::string& key, const std::string& reason, const std::string& hint) {
  if (!failure_) failure_ = Failure{stage_, path(key) + ": " + reason, hint};
}

const Json* JsonReader::value(const char* key) {
  known_.insert(key);
  if (!json_.is_object()) return nullptr;
  auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

bool JsonReader::has(const char* key) {
  const Json* found = value(key);
  return found && !found->is_null();
}

void JsonReader::required(const char* key) {
  if (!has(key)) fault(key, "is missing");
}

void JsonReader::boolean(const char* key, bool& out) {
  if (!has(key)) return;
  const Json& found = *value(key);
  if (found.is_boolean())
    out = found.get<bool>();
  else
    fault(key, "must be true or false");
}

void JsonReader::integer(const char* key, int64_t& out, int64_t low, int64_t high) {
  if (!has(key)) return;
  const Json& found = *value(key);
  if (!found.is_number_integer()) return fault(key, "must be a whole number, not " + shown(found));
  if (found.is_number_unsigned() && found.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    return fault(key, shown(found) + " is too large");
  const int64_t number = found.get<int64_t>();
  if (number < low || number > high) return adopt(out_of_range(stage_, where_, key, number, low, high));
  out = number;
}

void JsonReader::integer(const char* key, int& out, int low, int high) {
  int64_t wide = out;
  integer(key, wide, low, high);
  out = static_cast<int>(wide);
}

void JsonReader::unsigned_integer(const char* key, uint64_t& out) {
  if (!has(key)) return;
  const Json& found = *value(key);
  if (found.is_number_unsigned() || (found.is_number_integer() && found.get<int64_t>() >= 0))
    out = found.get<uint64_t>();
  else
    fault(key, "must be a whole number of 0 or more, not " + shown(found));
}

void JsonReader::number(const char* key, double& out) {
  if (!has(key)) return;
  const Json& found = *value(key);
  if (found.is_number())
    out = found.get<double>();
  else if (found == "nan")
    out = std::numeric_limits<double>::quiet_NaN();
  else if (found == "inf")
    out = std::numeric_limits<double>::infinity();
  else if (found == "-inf")
    out = -std::numeric_limits<double>::infinity();
  else
    fault(key, "must be a number, not " + shown(found));
}

void JsonReader::number(const char* key, double& out, double low, double high) {
  if (!has(key)) return;
  double value = out;
  number(key, value);
  if (failure_) return;
  if (!(value >= low && value <= high))  // NaN is refused too
    return fault(key, fmt::format("{} is outside {:g}…{:g}", shown(*this->value(key)), low, high),
                 "Choose a number in that range.");
  out = value;
}

void JsonReader::text(const char* key, std::string& out, size_t max_bytes) {
  if (!has(key)) return;
  const Json& found = *value(key);
  if (!found.is_string()) return fault(key, "must be a text, not " + shown(found));
  if (found.get_ref<const std::string&>().size() > max_bytes) return fault(key, "is longer than the limit");
  out = found.get<std::string>();
}

void JsonReader::line(const char* key, std::string& out, size_t max_bytes) {
  std::string given = out;
  text(key, given, max_bytes);
  if (failure_ || !has(key)) return;
  if (one_line(given) != given)
    return fault(key, "must be one line without control characters", "Remove the line ends and control characters.");
  out = std::move(given);
}

Result<void> JsonReader::finish(bool refuse_unknown) {
  if (!failure_ && refuse_unknown) {
    for (const auto& [key, unused] : json_.items()) {
      if (!known_.contains(key)) {
        fault(key, "is not a known key", "Remove it, or check its spelling.");
        break;
      }
    }
  }
  if (failure_) return fail(*failure_);
  return {};
}

Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace attnscope
