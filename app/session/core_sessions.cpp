// Named sessions: an experiment, its runs and the window's state, stored under a title.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "platform/json_file.h"
#include "session/core.h"
#include "session/restore.h"
#include "store/saved_sessions.h"

namespace attnscope::session {
namespace {

// A watch's report is kept as a row of its own, some time after its run.
constexpr double kWatchSeconds = 600;

std::vector<SavedSession> listed(const std::filesystem::path& folder, std::vector<Failure>& faults) {
  std::vector<SavedSession> sessions;
  for (store::PresetFile& file : store::list_presets(folder, "", faults))
    sessions.push_back({std::move(file.title), file.path.string(), std::move(file.note), std::move(file.kernel)});
  std::ranges::sort(sessions, {}, &SavedSession::title);
  return sessions;
}

}  // namespace

std::filesystem::path SessionCore::sessions_dir() const { return options_.state_dir / "sessions"; }

void SessionCore::list_sessions() {
  if (options_.state_dir.empty()) return;
  std::vector<Failure> faults;
  snapshot_.sessions = share(listed(sessions_dir(), faults));
  snapshot_.deleted_sessions = share(listed(sessions_dir() / "deleted", faults));
  for (const Failure& fault : faults) notices_.log(LogLevel::warning, fault.message);
  changed();
}

// Watches the folder for sessions that other windows save. If it does not exist yet, it is watched after the first
// save.
void SessionCore::watch_sessions() {
  std::error_code error;
  if (!options_.watch_files || watches_sessions_ || !std::filesystem::is_directory(sessions_dir(), error)) return;
  watches_sessions_ = true;
  watch_folder(sessions_dir(), {".json"}, [this] { list_sessions(); });
}

void SessionCore::save_session(const std::string& title, const std::string& note, const Json& view) {
  if (options_.state_dir.empty() || title.empty()) return;
  store::Preset session{focus_.wanted()};
  session.title = title;
  session.note = note;
  session.view = view.is_object() ? view : Json::object();
  // While a session is open, the history lists only its runs and those that ran since.
  const OpenedSession& opened = snapshot_.opened;
  std::vector<store::NamedRun> runs;
  const History& history = history_.view();
  for (size_t at = 0; at < history.size; ++at)
    if (const HistoryEntry& entry = history.at(at);
        entry.observation && (opened.title.empty() || entry.id > opened.since || opened.runs->contains(entry.id)))
      runs.push_back({entry.observation->hash, entry.finished_at});
  session.view["runs"] = store::runs_to_json(runs);
  const auto path = store::write_session(sessions_dir(), session, *snapshot_.kernels);
  if (!worked(path)) return;
  const bool some = runs.size() > store::kMostNamedRuns;
  notices_.toast(LogLevel::info,
                 "Saved the session " + title +
                     (some ? fmt::format(" with its last {} runs", store::kMostNamedRuns) : std::string()));
  watch_sessions();
  list_sessions();
}

// The stored rows of those runs that are missing in the history, oldest first.
std::vector<store::StoredObservation> SessionCore::stored_runs(const std::vector<store::NamedRun>& runs) {
  std::vector<store::NamedRun> missing;
  const History& history = history_.view();
  for (const store::NamedRun& run : runs) {
    bool here = false;
    for (size_t at = 0; at < history.size && !here; ++at) {
      const HistoryEntry& entry = history.at(at);
      here = entry.observation && run.is(entry.observation->hash, entry.finished_at);
    }
    if (!here) missing.push_back(run);
  }
  std::vector<store::StoredObservation> rows;
  if (missing.empty() || !results_) return rows;
  std::ranges::sort(missing, {}, &store::NamedRun::at);
  const auto may_be = [&](double finished_at) {
    const auto first = std::ranges::lower_bound(missing, finished_at - kWatchSeconds, {}, &store::NamedRun::at);
    return first != missing.end() && first->at < finished_at + store::NamedRun::kApart;
  };
  auto found = results_->find([&](const store::ResultKey& key) { return may_be(key.finished_at()); },
                              store::ResultOrder::newest);
  if (!worked(found)) return rows;
  const auto read = results_->read(*found, [&](store::StoredObservation row) {
    const Observation& seen = row.observation;
    const bool its_own = std::ranges::any_of(missing, [&](const store::NamedRun& run) {
      return run.is(seen.hash, row.finished_at) || (seen.watch && run.hash == seen.hash);
    });
    if (its_own) rows.push_back(std::move(row));
  });
  if (!read) notices_.log(LogLevel::warning, read.error().message);
  std::ranges::reverse(rows);
  return rows;
}

// A session whose experiment is no longer valid for any kernel still opens with its runs, A and layout.
void SessionCore::open_session(const std::filesystem::path& path) {
  auto json = platform::read_json(path, store::kMaxPresetBytes, Stage::input);
  if (!worked(json)) return;
  const auto session = store::preset_from_json(*json, path.string(), *snapshot_.kernels);
  const bool asks = worked(session);
  const auto kept = json->find("view");
  const Json view = kept != json->end() && kept->is_object() ? *kept : Json::object();
  const auto named = json->find("title");
  const std::string title =
      named != json->end() && named->is_string() ? named->get<std::string>() : path.stem().string();
  const std::vector<store::NamedRun> runs = store::runs_in(view);
  for (HistoryEntry& entry : restored_history(stored_runs(runs), shelf_)) history_.add(std::move(entry), 0);
  OpenedSession opened;
  opened.number = ++snapshot_.opened.number;
  opened.title = title;
  opened.path = path.string();
  opened.view = share(view);
  const History& history = history_.view();
  std::set<uint64_t> shown;
  for (size_t at = 0; at < history.size; ++at) {
    const HistoryEntry& entry = history.at(at);
    if (entry.observation && std::ranges::any_of(runs, [&](const store::NamedRun& run) {
          return run.is(entry.observation->hash, entry.finished_at);
        }))
      shown.insert(entry.id);
  }
  opened.since = history.size;
  if (const size_t lost = runs.size() - std::min(runs.size(), shown.size()); lost > 0)
    notices_.log(LogLevel::warning, fmt::format("{} runs of {} are not in the results file", lost, opened.title));
  opened.runs = share(std::move(shown));
  snapshot_.opened = std::move(opened);
  if (asks) ask({.draft = *session, .gesture = {0, true, "session " + title}, .device_is_wish = true});
  changed();
}

void SessionCore::close_session() {
  OpenedSession none;
  none.number = snapshot_.opened.number + 1;
  snapshot_.opened = std::move(none);
  changed();
}

bool SessionCore::is_session(const std::filesystem::path& path) const {
  const std::filesystem::path folder = path.parent_path();
  return !options_.state_dir.empty() && (folder == sessions_dir() || folder == sessions_dir() / "deleted");
}

void SessionCore::delete_session(const std::filesystem::path& path) {
  if (!is_session(path)) return;
  const auto aside = store::put_preset_aside(path);
  if (!worked(aside)) return;
  if (path.string() == snapshot_.opened.path) close_session();
  list_sessions();
}

void SessionCore::restore_session(const std::filesystem::path& path) {
  if (!is_session(path)) return;
  if (worked(store::take_session_back(path))) list_sessions();
}

}  // namespace attnscope::session
