#include "session/sharing.h"

#include <fmt/format.h>

#include "core/escape.h"
#include "core/json.h"

namespace attnscope::session {
namespace {

std::string kind_of(const DeviceSpec& spec) { return spec.emulated ? "an emulated " + spec.name : spec.name; }

// The first limit or rate that differs, as "sms: 58 and 40". Libraries and sources do not affect speed and are ignored.
std::string first_difference(const DeviceSpec& a, const DeviceSpec& b) {
  const Json one = to_json(a), other = to_json(b);
  for (const auto& [key, value] : one.items()) {
    if (key == "id" || key == "runs" || key == "sources") continue;
    const auto found = other.find(key);
    if (found == other.end()) return key;
    if (*found != value) return key + ": " + json_text(value, -1) + " and " + json_text(*found, -1);
  }
  return "";
}

}  // namespace

std::string unlike(const DeviceSpec& a, const Versions& of_a, const DeviceSpec& b, const Versions& of_b, bool by_nvcc) {
  if (kind_of(a) != kind_of(b)) return fmt::format("{} is {} and {} is {}", a.id, kind_of(a), b.id, kind_of(b));
  if (const std::string figure = first_difference(a, b); !figure.empty())
    return fmt::format("{} and {} are both {}, but they differ in {}", a.id, b.id, kind_of(a), figure);
  const auto versions = [&](const char* what, const std::string& one, const std::string& other) {
    const auto named = [](const std::string& version) { return version.empty() ? "none" : version; };
    return fmt::format("{} and {} have different versions of {}: {} and {}", a.id, b.id, what, named(one),
                       named(other));
  };
  if (of_a.nvrtc != of_b.nvrtc) return versions("NVRTC", of_a.nvrtc, of_b.nvrtc);
  if (by_nvcc && of_a.nvcc != of_b.nvcc) return versions("nvcc", of_a.nvcc, of_b.nvcc);
  if (!a.emulated && of_a.driver != of_b.driver) return versions("the driver", of_a.driver, of_b.driver);
  return "";
}

}  // namespace attnscope::session
