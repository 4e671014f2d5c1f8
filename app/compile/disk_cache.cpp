#include "compile/disk_cache.h"

#include <chrono>
#include <vector>

#include "core/hash.h"
#include "platform/aged_files.h"
#include "platform/atomic_file.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxEntryBytes = 256u << 20;
constexpr auto kAbandonedAfter = std::chrono::hours(1);

}  // namespace

DiskCache::DiskCache(fs::path folder, std::string kind, uint64_t cap_bytes)
    : folder_(std::move(folder)), kind_(std::move(kind)), cap_bytes_(cap_bytes) {}

fs::path DiskCache::file_of(const std::string& key) const { return folder_ / (key + "." + kind_); }

// "<kind> <checksum of the payload>\n<payload>"
DiskCache::Lookup DiskCache::get(const std::string& key) const {
  if (folder_.empty()) return {};
  const fs::path file = file_of(key);
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  auto text = platform::read_file(file, kMaxEntryBytes);
  if (!text) return {std::nullopt, "The cached " + text.error().message + " It is made again."};
  const std::string magic = kind_ + " ";
  const size_t end = text->find('\n');
  const bool headed = text->starts_with(magic) && end != std::string::npos;
  std::string payload = headed ? text->substr(end + 1) : std::string();
  if (!headed || text->substr(magic.size(), end - magic.size()) != xxh3_128(payload))
    return {std::nullopt, "The cached " + file.string() + " is truncated or damaged. It is made again."};
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);  // a read-only cache still works
  return {std::move(payload), {}};
}

Result<void> DiskCache::put(const std::string& key, const std::string& payload) const {
  if (folder_.empty()) return {};
  return platform::write_file(file_of(key), kind_ + " " + xxh3_128(payload) + "\n" + payload,
                              platform::Durability::cached);
}

void DiskCache::trim() const {
  if (folder_.empty()) return;
  const auto now = fs::file_time_type::clock::now();
  std::vector<platform::AgedFile> entries;
  for (platform::AgedFile& file : platform::files_by_age(folder_)) {
    std::error_code gone;
    if (file.path.filename().string().find("." + kind_ + ".tmp.") != std::string::npos) {
      if (now - file.used > kAbandonedAfter) fs::remove(file.path, gone);
    } else if (file.path.extension() == "." + kind_) {
      entries.push_back(std::move(file));
    }
  }
  platform::remove_oldest(entries, cap_bytes_);
}

}  // namespace attnscope::compile
