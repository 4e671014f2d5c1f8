#include "store/settings.h"

#include "core/escape.h"
#include "platform/atomic_file.h"
#include "platform/file_lock.h"
#include "platform/move_aside.h"

namespace attnscope::store {
namespace {

constexpr uint64_t kMaxBytes = 4 << 20;
constexpr int kLockMs = 2000;  // another window writes for milliseconds

// The JSON Merge Patch (RFC 7396) that turns `before` into `after`; both are objects.
Json patch_between(const Json& before, const Json& after) {
  Json patch = Json::object();
  for (const auto& [key, unused] : before.items())
    if (!after.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : after.items()) {
    const auto old = before.find(key);
    if (old == before.end())
      patch[key] = value;
    else if (old->is_object() && value.is_object() && *old != value)
      patch[key] = patch_between(*old, value);
    else if (*old != value)
      patch[key] = value;
  }
  return patch;
}

Result<Json> parsed(const std::string& text, const std::filesystem::path& path) {
  auto json = parse_json(text, path.string(), Stage::store);
  if (json && !json->is_object()) return fail(Stage::store, path.string() + ": must be an object", "");
  return json;
}

}  // namespace

Settings Settings::load(std::filesystem::path path, std::optional<Failure>& trouble) {
  Settings settings;
  settings.path_ = std::move(path);
  auto text = platform::read_file_if_any(settings.path_, kMaxBytes);
  if (!text) {
    trouble = Failure{Stage::store, text.error().message, text.error().hint + " Settings are not saved until then."};
    return settings;
  }
  if (!*text) return settings;
  if (auto json = parsed(**text, settings.path_)) {
    settings.json_ = settings.in_file_ = std::move(*json);
  } else {
    auto aside = platform::move_aside(settings.path_);
    trouble = Failure{Stage::store, json.error().message,
                      aside ? "The old file is now " + aside->string() + ". The settings are the defaults again."
                            : aside.error().message};
  }
  return settings;
}

void Settings::set(const std::string& key, Json value) {
  if (value.is_null())
    json_.erase(key);
  else
    json_[key] = std::move(value);
}

Result<void> Settings::save() {
  std::error_code error;
  // For the lock file; if it fails, writing reports the error.
  std::filesystem::create_directories(path_.parent_path(), error);
  // Without file locks, or in a folder that refuses a lock file, a change is lost only if two windows write at the same
  // moment.
  const auto lock = platform::FileLock::within(path_.string() + ".lock", kLockMs);
  if (lock && lock->supported() && !lock->held())
    return fail(Stage::store, path_.string() + ": another attnscope is writing it", "The next change tries again.");
  auto text = platform::read_file_if_any(path_, kMaxBytes);
  auto file = !text ? fail(text.error()) : *text ? parsed(**text, path_) : Result<Json>(Json::object());
  if (!file)
    return fail(Stage::store, file.error().message,
                "It is left as it is. What changed here is saved once the file can be read.");
  Json merged = *file;
  merged.merge_patch(patch_between(in_file_, json_));
  if (merged != *file)
    if (auto written = platform::write_file(path_, json_text(merged, 2) + "\n"); !written) return written;
  json_ = in_file_ = std::move(merged);
  return {};
}

}  // namespace attnscope::store
