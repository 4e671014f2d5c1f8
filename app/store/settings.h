#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/result.h"

namespace attnscope::store {

// The program's settings: one JSON object in one file, which people edit by hand and several windows share. save()
// merges only what this process changed into the file's current contents, member by member. An edit by hand, another
// window's changes and keys unknown to this version all stay.
class Settings {
 public:
  // A file that does not exist means no settings yet. A file that is not JSON is moved aside as <name>.damaged-<n>; one
  // that cannot be read stays where it is. `trouble` reports both.
  static Settings load(std::filesystem::path path, std::optional<Failure>& trouble);

  const Json& all() const { return json_; }      // an object
  void set(const std::string& key, Json value);  // null removes the key
  // Atomic. Afterwards all() also has what others wrote. If the file cannot be read or parsed at that moment (in the
  // middle of an edit, for example), it stays as it is and the result is a Failure; changes made here wait for the next
  // save().
  Result<void> save();

 private:
  std::filesystem::path path_;
  Json json_ = Json::object();
  Json in_file_ = Json::object();  // the file's contents when it was last read or written
};

}  // namespace attnscope::store
