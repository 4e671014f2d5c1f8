#include "catalog/stand_in_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr std::string_view kStandInSaid = "the buffers' length: ";

bool names_stand_in(const nlohmann::ordered_json& json) {
  if (json.is_string()) {
    const std::string text = json.get<std::string>();
    return std::ranges::any_of(cpp_tokens(text), [](const CppToken& token) { return token.is(kStandInSize); });
  }
  return json.is_structured() && std::ranges::any_of(json, names_stand_in);
}

}  // namespace

void guess_stand_in(int64_t value, Imported& imported) {
  imported.guessed.push_back(fmt::format("{}{} elements, since no parameter says it", kStandInSaid, value));
}

void drop_stand_in(nlohmann::ordered_json& manifest, Imported& imported) {
  const auto said =
      std::ranges::find_if(imported.guessed, [](const auto& one) { return one.starts_with(kStandInSaid); });
  if (said == imported.guessed.end()) return;
  for (const char* key : {"buffers", "launch", "launches", "args"})
    if (manifest.contains(key) && names_stand_in(manifest[key])) return;
  manifest["sizes"].erase(kStandInSize);
  imported.guessed.erase(said);
}

}  // namespace attnscope::catalog
