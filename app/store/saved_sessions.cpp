#include "store/saved_sessions.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/escape.h"
#include "platform/atomic_file.h"
#include "store/free_path.h"

namespace attnscope::store {
namespace {

constexpr size_t kLongestName = 60;

}  // namespace

bool NamedRun::is(const std::string& other_hash, double other_at) const {
  return hash == other_hash && std::abs(at - other_at) < kApart;
}

Json runs_to_json(const std::vector<NamedRun>& runs) {
  Json json = Json::array();
  const size_t first = runs.size() > kMostNamedRuns ? runs.size() - kMostNamedRuns : 0;
  for (size_t at = first; at < runs.size(); ++at) json.push_back(Json{{"hash", runs[at].hash}, {"at", runs[at].at}});
  return json;
}

std::vector<NamedRun> runs_in(const Json& view) {
  std::vector<NamedRun> runs;
  if (!view.is_object()) return runs;
  const auto list = view.find("runs");
  if (list == view.end() || !list->is_array()) return runs;
  for (const Json& one : *list) {
    if (!one.is_object() || runs.size() == kMostNamedRuns) continue;
    const auto hash = one.find("hash"), at = one.find("at");
    if (hash != one.end() && hash->is_string() && at != one.end() && at->is_number())
      runs.push_back({hash->get<std::string>(), at->get<double>()});
  }
  return runs;
}

Result<std::filesystem::path> write_session(const std::filesystem::path& folder, const Preset& session,
                                            const std::vector<Kernel>& kernels) {
  std::vector<Failure> unread;
  std::filesystem::path path;
  for (const PresetFile& file : list_presets(folder, "", unread))
    if (file.title == session.title) path = file.path;
  if (path.empty()) path = free_path(folder, file_name_of(session.title, "session", kLongestName));
  const std::string text = json_text(to_json(session, kernels), 2) + "\n";
  if (text.size() > kMaxPresetBytes)
    return fail(Stage::store, path.string() + ": the session would be over 1 MB", "Its layout holds too much.");
  std::error_code error;
  if (std::filesystem::exists(path, error))
    if (auto aside = put_preset_aside(path); !aside) return fail(aside.error());
  if (auto written = platform::write_file(path, text); !written) return fail(written.error());
  return path;
}

Result<std::filesystem::path> take_session_back(const std::filesystem::path& deleted) {
  const std::filesystem::path folder = deleted.parent_path().parent_path();
  const std::filesystem::path to = free_path(folder, deleted.stem().string());
  std::error_code error;
  std::filesystem::rename(deleted, to, error);
  if (error)
    return fail(Stage::store, deleted.string() + " cannot be moved to " + folder.string() + ": " + error.message(),
                "Check the rights of that folder; the session is still where it was.");
  return to;
}

}  // namespace attnscope::store
