#include "catalog/probed.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "catalog/manifest_text.h"
#include "core/joined.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

constexpr int64_t kMostTimes = int64_t{1} << 16;
constexpr int64_t kLeastLowered = 64;  // of a size
constexpr const char* kToBegin = " to begin with";

// The new value of a size in place of what was said of it before.
void say_lowered(Imported& imported, const std::string& name, int64_t now, int64_t before, const std::string& why) {
  const int64_t first = imported.lowered.emplace(name, before).first->second;
  const std::string begin = fmt::format("{} = ", name);
  std::erase_if(imported.guessed, [&](const std::string& one) {
    return one.starts_with(begin) && one.find(kToBegin) != std::string::npos;
  });
  imported.guessed.push_back(
      fmt::format("{0} = {1}{2}, {3}: --problem {0}={4} sets it back", name, now, kToBegin, why, first));
}

// Fills the buffers of random floats, or of random whole numbers, with `init`. False: there are none.
bool refill_random(Imported& imported, bool floats, const char* init, const char* what) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  std::vector<std::string> names;
  for (nlohmann::ordered_json& one : json["buffers"]) {
    const auto type = parse_word<ElementType>(one.value("dtype", ""));
    if (!type || is_floating(*type) != floats || one.value("init", nlohmann::ordered_json()) != "random") continue;
    one["init"] = init;
    names.push_back(one["name"].get<std::string>());
  }
  if (names.empty()) return false;
  imported.guessed.push_back(fmt::format("{} {} {}: with random {} a run leaves a buffer", joined(names),
                                         names.size() > 1 ? "hold" : "holds", init, what));
  imported.manifest = manifest_text(json);
  return true;
}

}  // namespace

void forget(std::vector<std::string>& sentences, const std::string& begin) {
  std::erase_if(sentences, [&](const std::string& one) { return one.starts_with(begin); });
}

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
  const int64_t next = std::max<int64_t>(now / 4, 1);
  *largest = next;
  say_lowered(imported, name, next, now, "so that a CTA ends in seconds");
  imported.manifest = manifest_text(json);
  return true;
}

bool run_together(Imported& imported) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  if (!json.contains("launch") || json["launch"].value("cooperative", false)) return false;
  json["launch"]["cooperative"] = true;
  imported.probed.emplace_back("the launch is cooperative: a CTA waits for what another one stores");
  imported.manifest = manifest_text(json);
  return true;
}

bool zero_whole_numbers(Imported& imported) { return refill_random(imported, false, "zeros", "whole numbers"); }

bool one_floats(Imported& imported) { return refill_random(imported, true, "ones", "floats"); }

bool drop_variable(Imported& imported, const std::string& name) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  // With another knob's value the kernel may use it.
  for (const auto& knob : json.value("knobs", nlohmann::ordered_json::array()))
    if (knob["values"].size() > 1) return false;
  auto& buffers = json["buffers"];
  const auto unused =
      std::find_if(buffers.begin(), buffers.end(), [&](const auto& one) { return one.value("symbol", "") == name; });
  if (name.empty() || unused == buffers.end()) return false;
  buffers.erase(unused);
  forget(imported.guessed, fmt::format("the __constant__ variable {} holds ", name));
  imported.probed.push_back(fmt::format("the kernel does not use the __constant__ variable {}", name));
  imported.manifest = manifest_text(json);
  return true;
}

bool doubt_length(Imported& imported, const std::string& buffer) {
  if (!imported.launched_elsewhere || imported.open_lengths.contains(buffer)) return false;
  forget(imported.read, buffer + " has ");
  imported.open_lengths[buffer] = 1;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  for (nlohmann::ordered_json& one : json["buffers"])
    if (one["name"] == buffer) one["guessed"] = true;
  imported.manifest = manifest_text(json);
  return true;
}

bool lower_guessed(Imported& imported, int64_t most) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  bool changed = false;
  for (auto& [name, size] : json["sizes"].items()) {
    if (!imported.open_sizes.contains(name) || !size.is_number_integer() || size <= most) continue;
    say_lowered(imported, name, most, size.get<int64_t>(), "since a run at its guess leaves a buffer");
    size = most;
    changed = true;
  }
  if (changed) imported.manifest = manifest_text(json);
  return changed;
}

}  // namespace attnscope::catalog
