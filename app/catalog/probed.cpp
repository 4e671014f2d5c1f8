#include "catalog/probed.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catalog/manifest_text.h"

namespace attnscope::catalog {
namespace {

constexpr int64_t kMostTimes = int64_t{1} << 16;
constexpr int64_t kLeastLowered = 64;  // of a size
constexpr const char* kToBegin = " to begin with";

void forget(std::vector<std::string>& sentences, const std::string& begin) {
  std::erase_if(sentences, [&](const std::string& one) { return one.starts_with(begin); });
}

}  // namespace

bool lengthen(Imported& imported, const std::string& buffer, int64_t times) {
  const auto open = imported.open_lengths.find(buffer);
  if (open == imported.open_lengths.end() || times < 1 || times > kMostTimes) return false;
  int64_t factor = open->second;
  for (const int64_t wanted = open->second * times; factor < wanted;) factor *= 2;
  if (factor > kMostTimes) return false;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  for (nlohmann::ordered_json& one : json["buffers"]) {
    if (one["name"] != buffer) continue;
    nlohmann::ordered_json& shape = one["shape"];
    if (open->second > 1) shape.erase(shape.size() - 1);
    shape.push_back(std::to_string(factor));
    // The sentence of the guess, or of the previous run.
    const std::string begin = buffer + " has ";
    forget(imported.guessed, begin);
    forget(imported.probed, begin);
    imported.probed.push_back(
        fmt::format("{}{} elements: a run went past the end of half as many", begin, shape.dump()));
  }
  open->second = factor;
  imported.manifest = manifest_text(json);
  return true;
}

bool lower_largest(Imported& imported) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  nlohmann::ordered_json* largest = nullptr;
  std::string name;
  for (auto& [key, size] : json["sizes"].items()) {
    if (!size.is_number_integer() || size < kLeastLowered || (largest && size <= *largest)) continue;
    largest = &size;
    name = key;
  }
  if (!largest) return false;
  const int64_t now = largest->get<int64_t>();
  const int64_t first = imported.lowered.emplace(name, now).first->second;
  const int64_t next = std::max<int64_t>(now / 4, 1);
  *largest = next;
  const std::string begin = fmt::format("{} = ", name);
  std::erase_if(imported.guessed, [&](const std::string& one) {
    return one.starts_with(begin) && one.find(kToBegin) != std::string::npos;
  });
  imported.guessed.push_back(fmt::format("{0} = {1}{2}, so that a CTA ends in seconds: --problem {0}={3} sets it back",
                                         name, next, kToBegin, first));
  imported.manifest = manifest_text(json);
  return true;
}

}  // namespace attnscope::catalog
