#include "report/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <charconv>
#include <memory>

#include "core/json.h"

namespace attnscope::report {
namespace {

constexpr int kDeepest = 32;
constexpr const char* kHint = "Give plain YAML: mappings, lists, texts and numbers.";

template <class T>
bool is_number(std::string_view text, T& number) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("+-.0123456789eE") != text.npos) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Json plain_value(std::string_view text) {
  for (const char* word : {"", "~", "null", "Null", "NULL"})
    if (text == word) return nullptr;
  for (const char* word : {"true", "True", "TRUE"})
    if (text == word) return true;
  for (const char* word : {"false", "False", "FALSE"})
    if (text == word) return false;
  if (int64_t whole = 0; is_number(text, whole)) return whole;
  if (double number = 0; is_number(text, number)) return number;
  return std::string(text);
}

// libyaml's parser and its current event.
class Events {
 public:
  explicit Events(std::string_view text) : ready_(yaml_parser_initialize(&parser_) != 0) {
    if (ready_)
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Events() {
    drop();
    if (ready_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  bool next() {
    drop();
    has_event_ = ready_ && yaml_parser_parse(&parser_, &event_) != 0;
    return has_event_;
  }
  const yaml_event_t& event() const { return event_; }
  size_t line() const { return (has_event_ ? event_.start_mark.line : parser_.problem_mark.line) + 1; }
  std::string problem() const { return parser_.problem != nullptr ? parser_.problem : "not YAML"; }

 private:
  void drop() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = false;
  }
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_;
  bool has_event_ = false;
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : events_(text), where_(where) {}

  Result<Json> document() {
    Json json;
    for (const yaml_event_type_t wanted : {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT}) {
      if (!events_.next()) return refused(events_.problem());
      if (type() == YAML_STREAM_END_EVENT) return refused("holds nothing");
      if (type() != wanted) return refused("is no document");
    }
    if (!events_.next()) return refused(events_.problem());
    auto value = this->value(0);
    if (!value) return value;
    for (const yaml_event_type_t wanted : {YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT}) {
      if (!events_.next()) return refused(events_.problem());
      if (type() != wanted) return refused("holds a second document");
    }
    return value;
  }

 private:
  yaml_event_type_t type() const { return events_.event().type; }

  tl::unexpected<Failure> refused(const std::string& why) const {
    return fail(Stage::input, fmt::format("{}:{}: {}", where_, events_.line(), why), kHint);
  }

  // Parses the value that starts at the current event.
  Result<Json> value(int depth) {
    if (depth > kDeepest) return refused(fmt::format("is over {} deep", kDeepest));
    const yaml_event_t& event = events_.event();
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return scalar();
      case YAML_SEQUENCE_START_EVENT:
        if (event.data.sequence_start.anchor != nullptr || event.data.sequence_start.tag != nullptr) break;
        return list(depth);
      case YAML_MAPPING_START_EVENT:
        if (event.data.mapping_start.anchor != nullptr || event.data.mapping_start.tag != nullptr) break;
        return mapping(depth);
      default:
        break;
    }
    return refused("has an anchor, an alias or a tag, which are not taken");
  }

  Result<Json> scalar() {
    const auto& scalar = events_.event().data.scalar;
    if (scalar.anchor != nullptr || scalar.tag != nullptr)
      return refused("has an anchor, an alias or a tag, which are not taken");
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    return scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_value(text) : Json(std::string(text));
  }

  Result<Json> list(int depth) {
    Json json = Json::array();
    for (;;) {
      if (!events_.next()) return refused(events_.problem());
      if (type() == YAML_SEQUENCE_END_EVENT) return json;
      auto entry = value(depth + 1);
      if (!entry) return entry;
      json.push_back(std::move(*entry));
    }
  }

  Result<Json> mapping(int depth) {
    Json json = Json::object();
    for (;;) {
      if (!events_.next()) return refused(events_.problem());
      if (type() == YAML_MAPPING_END_EVENT) return json;
      if (type() != YAML_SCALAR_EVENT) return refused("has a key that is no text");
      auto key = scalar();
      if (!key) return key;
      if (!key->is_string()) return refused("has a key that is no text");
      const std::string name = key->get<std::string>();
      if (json.contains(name)) return refused("\"" + name + "\" stands twice");
      if (!events_.next()) return refused(events_.problem());
      auto entry = value(depth + 1);
      if (!entry) return entry;
      json[name] = std::move(*entry);
    }
  }

  Events events_;
  const std::string& where_;
};

}  // namespace

Result<Json> json_from_yaml(std::string_view text, const std::string& where) { return Reader(text, where).document(); }

}  // namespace attnscope::report
