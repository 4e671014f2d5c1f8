#include "ui/tool_output.h"

#include <nlohmann/json.hpp>

#include "core/json.h"

namespace attnscope::ui {
namespace {

std::string member_text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

size_t count_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<size_t>() : 0;
}

// True if the line is one of the program's notes; then it is in `out`.
bool take_note(std::string_view line, ToolOutput& out) {
  if (!line.starts_with("{\"")) return false;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.size() != 1) return false;
  const std::string& key = json.begin().key();
  const Json& value = json.begin().value();
  if (key == "note" && value.is_string()) {
    out.text += value.get<std::string>() + "\n";
  } else if (key == "failure" && value.is_object()) {
    out.text += member_text(value, "stage") + ": " + member_text(value, "message") + "\n";
    if (const std::string hint = member_text(value, "hint"); !hint.empty()) out.text += "  " + hint + "\n";
  } else if (key == "progress" && value.is_object()) {
    out.progress = member_text(value, "text");
    out.done = count_of(value, "done");
    out.of = count_of(value, "of");
  } else {
    return false;
  }
  return true;
}

}  // namespace

ToolOutput read_notes(std::string_view output) {
  ToolOutput out;
  while (!output.empty()) {
    const size_t end = output.find('\n');
    const std::string_view line = output.substr(0, end);
    if (!take_note(line, out)) out.text += std::string(line) + (end == std::string_view::npos ? "" : "\n");
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
  }
  return out;
}

}  // namespace attnscope::ui
