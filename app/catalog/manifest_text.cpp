#include "catalog/manifest_text.h"

#include <nlohmann/json.hpp>

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

// {"a": 1, "b": [1, 2]}: on one line, with the usual blanks.
std::string in_one_line(const OrderedJson& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    text += (json.is_object() ? OrderedJson(key).dump() + ": " : "") + in_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string manifest_text(const nlohmann::ordered_json& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += (text.empty() ? "{\n  " : ",\n  ") + OrderedJson(key).dump() + ": ";
    const bool parts = value.is_array() && !value.empty() && value[0].is_object() && value.size() > 1;
    if (!parts) {
      text += in_one_line(value);
      continue;
    }
    for (size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n    " : ",\n    ") + in_one_line(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

std::string elements_of(const nlohmann::ordered_json& shape) {
  return shape.dump() + (shape.dump() == R"(["1"])" ? " element" : " elements");
}

std::string start_of(const nlohmann::ordered_json& init) {
  if (init == "random") return "random";
  const OrderedJson& value = init.is_object() && init.contains("fill") ? init["fill"] : init;
  return "as " + (value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace attnscope::catalog
