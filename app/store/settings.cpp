#include "store/settings.h"

#include "platform/atomic_file.h"

namespace attnscope::store {
namespace {
constexpr uint64_t kMaxBytes = 4 << 20;
}

Settings Settings::load(std::filesystem::path path, std::optional<Failure>& trouble) {
  Settings settings;
  settings.path_ = std::move(path);
  std::error_code error;
  if (!std::filesystem::exists(settings.path_, error)) return settings;
  auto text = platform::read_file(settings.path_, kMaxBytes);
  auto json = text ? parse_json(*text, settings.path_.string(), Stage::store) : Result<Json>(fail(text.error()));
  if (json && !json->is_object()) json = fail(Stage::store, settings.path_.string() + ": must be an object", "");
  if (json) {
    settings.json_ = std::move(*json);
    return settings;
  }
  const std::filesystem::path aside = settings.path_.string() + ".damaged";
  std::filesystem::rename(settings.path_, aside, error);
  trouble = Failure{
      Stage::store, json.error().message,
      error ? "The settings start afresh." : "The settings start afresh; the old file is " + aside.string() + "."};
  return settings;
}

void Settings::set(const std::string& key, Json value) {
  if (value.is_null())
    json_.erase(key);
  else
    json_[key] = std::move(value);
}

Result<void> Settings::save() const {
  return platform::write_file(path_, json_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace attnscope::store
