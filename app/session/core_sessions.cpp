// Named sessions: what was worked on, under a name.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/joined.h"
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

void SessionCore::save_session(const std::string& title, const std::string& note, const Json& view) {
  if (options_.state_dir.empty() || title.empty()) return;
  store::Preset session{focus_.wanted()};
  session.title = title;
  session.note = note;
  session.view = view.is_object() ? view : Json::object();
  std::vector<store::NamedRun> runs;
  const History& history = history_.view();
  for (size_t at = 0; at < history.size; ++at)
    if (const HistoryEntry& entry = history.at(at); entry.observation)
      runs.push_back({entry.observation->hash, entry.finished_at});
  session.view["runs"] = store::runs_to_json(runs);
  const auto path = store::write_session(sessions_dir(), session, *snapshot_.kernels);
  if (!worked(path)) return;
  notices_.toast(LogLevel::info, "Saved the session " + title);
  list_sessions();
}

// The rows of those runs that the history does not have, oldest first.
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
  auto found =
      results_->find([&](const store::ResultKey& key) { return may_be(key.finished_at); }, store::ResultOrder::newest);
  if (!worked(found)) return rows;
  const auto read = results_->read(*found, [&](store::StoredObservation row) {
    if (std::ranges::find(missing, row.observation.hash, &store::NamedRun::hash) != missing.end())
      rows.push_back(std::move(row));
  });
  if (!read) notices_.log(LogLevel::warning, read.error().message);
  std::ranges::reverse(rows);
  return rows;
}

void SessionCore::open_session(const std::filesystem::path& path) {
  auto session = store::read_preset(path, *snapshot_.kernels);
  if (!worked(session)) return;
  const std::vector<store::NamedRun> runs = store::runs_in(session->view);
  for (HistoryEntry& entry : restored_history(stored_runs(runs), shelf_)) history_.add(std::move(entry), 0);
  OpenedSession opened;
  opened.number = ++snapshot_.opened.number;
  opened.title = session->title;
  opened.path = path.string();
  opened.view = share(session->view.is_object() ? session->view : Json::object());
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
  ask({.draft = *session, .gesture = {0, true, "session " + session->title}, .device_is_wish = true});
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
