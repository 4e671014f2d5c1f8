#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/result.h"

namespace attnscope::store {

// The program's settings: one JSON object in one file, which people edit by hand and several windows share. save()
// brings only what this process changed into what the file holds at that moment, member by member, so that an edit by
// hand, another window's changes and keys that this version does not know all stay.
class Settings {
 public:
  // A file that does not exist is no settings yet. One that is not JSON is moved aside as <name>.damaged-<n>; one that
  // cannot be read stays where it is. `trouble` says either.
  static Settings load(std::filesystem::path path, std::optional<Failure>& trouble);

  const Json& all() const { return json_; }      // an object
  void set(const std::string& key, Json value);  // null removes the key
  // Atomic. Afterwards all() holds what others wrote, too. A file that cannot be read or understood by now, such as one
  // in the middle of an edit, is a Failure and stays as it is; what was changed here waits for the next save().
  Result<void> save();

 private:
  std::filesystem::path path_;
  Json json_ = Json::object();
  Json in_file_ = Json::object();  // what the file held when it was last read or written
};

}  // namespace attnscope::store
