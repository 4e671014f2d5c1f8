#include "platform/memory.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNone = UINT64_MAX;
std::atomic<uint64_t> injected{kNone};
constexpr const char* kSmaller = "Choose a smaller problem, or close other programs.";

// The number after `name` in a file with lines "name number". /proc/meminfo counts in kB, a control group in bytes.
std::optional<uint64_t> value_of(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    uint64_t value = 0;
    if (words >> first && first == name && words >> value) return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> number_in(const fs::path& file) {
  uint64_t value = 0;
  std::ifstream stream(file);
  return stream >> value ? std::optional(value) : std::nullopt;  // "max": no limit
}

// How much the control group at `folder` still allows. Its file pages do not count, because the kernel drops them
// first.
std::optional<uint64_t> left_in(const fs::path& folder) {
  const auto limit = number_in(folder / "memory.max"), used = number_in(folder / "memory.current");
  if (!limit || !used) return std::nullopt;
  const uint64_t held = *used - std::min(*used, value_of(folder / "memory.stat", "file").value_or(0));
  return *limit - std::min(*limit, held);
}

}  // namespace

std::optional<uint64_t> available_memory(const MemoryFiles& files) {
  if (const uint64_t told = injected; told != kNone) return told;
  std::optional<uint64_t> least;
  const auto take = [&](std::optional<uint64_t> bytes) {
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
  };
  if (const auto kilobytes = value_of(files.meminfo, "MemAvailable:")) take(*kilobytes * 1024);
  std::ifstream groups(files.own_groups);
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;  // the only group of version 2
    for (fs::path group = files.groups / line.substr(4);; group = group.parent_path()) {
      take(left_in(group));
      if (group == files.groups || group == group.parent_path()) break;
    }
  }
  return least;
}

Result<void> hold_memory(uint64_t bytes, const std::string& what) {
  const auto left = available_memory();
  if (!left || bytes <= *left) return {};
  return fail(Stage::limits,
              fmt::format("{} would take {:.1f} GB of this machine's memory; {:.1f} GB are available", what,
                          static_cast<double>(bytes) / 1e9, static_cast<double>(*left) / 1e9),
              kSmaller);
}

Failure out_of_memory(const std::string& what) {
  return {Stage::limits, what + ": this machine's memory ran out", kSmaller};
}

void give_back_freed_memory() {
  constexpr int kPiece = 256 << 10;
  mallopt(M_MMAP_THRESHOLD, kPiece);  // a threshold that was set stays; otherwise it grows to up to 32 MB
  mallopt(M_TRIM_THRESHOLD, kPiece);
}

void inject_available_memory(std::optional<uint64_t> bytes) { injected = bytes.value_or(kNone); }

}  // namespace attnscope::platform
