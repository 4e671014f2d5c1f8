#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/result.h"

namespace attnscope::store {

// The program's settings: one JSON object in one file. Keys that this version does not know are kept, so that an older
// and a newer version can share the file.
class Settings {
 public:
  // A file that does not exist is no settings yet. One that cannot be understood is put aside as <name>.damaged, and
  // `trouble` says so; nothing is deleted.
  static Settings load(std::filesystem::path path, std::optional<Failure>& trouble);

  const Json& all() const { return json_; }      // an object
  void set(const std::string& key, Json value);  // null removes the key
  Result<void> save() const;                     // atomic

 private:
  std::filesystem::path path_;
  Json json_ = Json::object();
};

}  // namespace attnscope::store
