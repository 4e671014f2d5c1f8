// What is on disk: kernels, presets, settings, results, journal.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "core/escape.h"
#include "platform/clock.h"
#include "session/core.h"
#include "session/restore.h"

namespace attnscope::session {
namespace {

constexpr int64_t kMostRestored = 500;  // runs of earlier sessions in the history; the file has all of them
constexpr size_t kMaxUnkept = 1000;     // results that wait for space on the disk

// The knobs and values that the kernel still has; an edited manifest may have dropped some.
std::map<std::string, int64_t> legal_knobs(const std::map<std::string, int64_t>& knobs, const Kernel& kernel) {
  std::map<std::string, int64_t> legal;
  for (const auto& [name, value] : knobs)
    if (const Knob* knob = kernel.find_knob(name); knob && knob->find(value)) legal.emplace(name, value);
  return legal;
}

}  // namespace

void SessionCore::open_store() {
  if (options_.state_dir.empty()) return;
  std::optional<Failure> trouble;
  settings_ = store::Settings::load(options_.state_dir / "settings.json", trouble);
  show_settings();
  notices_.toast(trouble);
  keep_what_waits();  // nothing waits yet: this opens the results and reports it if they cannot be kept
}

void SessionCore::keep_result(const Observation& observation) {
  if (options_.state_dir.empty() || (observation.failure && observation.failure->stage == Stage::cancelled)) return;
  unkept_.push_back({observation, platform::wall_seconds()});
  if (unkept_.size() > kMaxUnkept) unkept_.pop_front();
  keep_what_waits();
}

// Results that could not be written are tried again with the next result and at the end: space on a full disk is often
// freed while the session runs.
void SessionCore::keep_what_waits() {
  if (options_.state_dir.empty()) return;
  Result<void> kept;
  if (!results_) {
    auto opened = store::Results::open(options_.state_dir / "results.sqlite");
    if (opened)
      results_ = std::move(*opened);
    else
      kept = fail(opened.error());
  }
  for (; kept && !unkept_.empty(); unkept_.pop_front()) {
    kept = results_->append(unkept_.front().observation, unkept_.front().finished_at);
    if (!kept) break;
  }
  while (kept && !unkept_notes_.empty()) {
    const auto& [hash, note] = *unkept_notes_.begin();
    kept = results_->annotate(hash, note, platform::wall_seconds());
    if (kept) unkept_notes_.erase(unkept_notes_.begin());
  }
  if (results_) notices_.toast(results_->take_trouble());
  if (kept)
    store_warned_ = false;
  else if (!std::exchange(store_warned_, true))
    notices_.toast(LogLevel::warning, "Results are not being kept: " + kept.error().message,
                   kept.error().hint + " The session remembers them and tries again with the next one.");
}

// The note is written before it is shown, so that a note on the screen survives any end of the process. If it cannot be
// written (a full disk, for example), it is shown and written later.
void SessionCore::annotate(const std::string& hash, const store::RunNote& note) {
  if (hash.empty() || note.text.size() > store::RunNote::kMostBytes || !is_utf8(note.text)) return;
  unkept_notes_[hash] = note;
  keep_what_waits();
  auto notes = std::make_shared<RunNotes>(*snapshot_.notes);
  if (note == store::RunNote{})
    notes->erase(hash);
  else
    (*notes)[hash] = note;
  snapshot_.notes = std::move(notes);
  changed();
}

// Loads the runs of earlier sessions, so that the history continues where it ended.
void SessionCore::restore_history() {
  if (!results_) return;
  auto latest = results_->latest(kMostRestored);
  notices_.toast(results_->take_trouble());
  if (!latest) return notices_.log(LogLevel::warning, "The history is not restored: " + latest.error().message);
  if (latest->unreadable > 0)
    notices_.log(LogLevel::warning, fmt::format("{} earlier runs cannot be read and are not in the history; they stay "
                                                "in the results file",
                                                latest->unreadable));
  if (auto notes = results_->notes())
    snapshot_.notes = share(std::move(*notes));
  else
    notices_.log(LogLevel::warning, "Notes and stars are not restored: " + notes.error().message);
  for (HistoryEntry& entry : restored_history(std::move(latest->rows), shelf_)) history_.add(std::move(entry), 0);
}

void SessionCore::load_kernels() {
  // The folder of copies and imports may have been made since the start.
  std::error_code none;
  const std::filesystem::path& own = options_.own_kernels;
  if (!own.empty() && std::ranges::find(options_.kernel_dirs, own) == options_.kernel_dirs.end() &&
      std::filesystem::is_directory(own, none)) {
    options_.kernel_dirs.push_back(own);
    if (options_.watch_files && snapshot_.version > 0)
      watch_kernels(own);  // before the first one, watch_folders() does
  }
  catalog::Catalog catalog = catalog::load_catalog(options_.kernel_dirs);
  // A kernel that does not load while it is edited keeps its last version; a kernel whose file was deleted is removed.
  for (const Kernel& old : *snapshot_.kernels) {
    std::error_code error;
    if (!find_kernel(catalog.kernels, old.id) && std::filesystem::exists(old.manifest_name, error))
      catalog.kernels.push_back(old);
  }
  for (const Failure& failure : catalog.failures)
    if (std::ranges::find(*snapshot_.kernel_failures, failure) == snapshot_.kernel_failures->end())
      notices_.toast(failure);
  shelf_.set(catalog.kernels);
  snapshot_.kernels = share(std::move(catalog.kernels));
  find_originals();
  snapshot_.kernel_failures = share(std::move(catalog.failures));
}

void SessionCore::reload_kernels() {
  load_kernels();
  list_presets();  // whether a preset opens depends on the kernels
  changed();
  const Experiment& wanted = focus_.wanted();
  if (wanted.kernel.empty()) return;
  const auto kernel = shelf_.find(wanted.kernel);
  if (kernel && kernel->content_hash == wanted.kernel_hash) return;
  Draft draft = wanted;
  if (kernel) draft.config.knobs = legal_knobs(draft.config.knobs, *kernel);
  notices_.log(LogLevel::info, wanted.kernel + " was edited");
  ask({std::move(draft), {0, true, (kernel ? kernel->source_name : wanted.kernel) + " edited"}});
}

void SessionCore::list_presets() {
  const auto rung_of = [&](const std::string& id) {
    const auto kernel = shelf_.find(id);
    return kernel && kernel->rung > 0 ? kernel->rung : std::numeric_limits<int>::max();
  };
  std::vector<PresetItem> items;
  std::vector<Failure> faults;
  for (const std::filesystem::path& dir : options_.preset_dirs) {
    const bool own = dir == snapshot_.user_preset_dir;
    std::vector<store::PresetFile> files = store::list_presets(dir, own ? "Yours" : "Presets", faults);
    // Each group is listed once, with its kernels in the order of the ladder.
    std::stable_sort(files.begin(), files.end(), [&](const store::PresetFile& a, const store::PresetFile& b) {
      return std::pair(a.group, rung_of(a.kernel)) < std::pair(b.group, rung_of(b.kernel));
    });
    for (store::PresetFile& file : files) {
      PresetItem& item = items.emplace_back(
          PresetItem{std::move(file.title), file.path.string(), std::move(file.group), std::move(file.note), own, {}});
      if (const auto preset = store::read_preset(file.path, *snapshot_.kernels)) item.draft = completed(*preset);
    }
  }
  for (const Failure& fault : faults) notices_.log(LogLevel::warning, fault.message);
  snapshot_.presets = share(std::move(items));
  changed();
}

void SessionCore::watch_folder(const std::filesystem::path& folder, std::vector<std::string> endings,
                               std::function<void()> changed) {
  auto watcher = std::make_unique<FolderWatch>(loop_, std::move(endings), std::move(changed));
  if (watcher->start(folder))
    watches_.push_back(std::move(watcher));
  else if (std::error_code error; std::filesystem::is_directory(folder, error))
    notices_.log(LogLevel::warning, folder.string() + " cannot be watched: reload by hand after an edit");
}

void SessionCore::watch_kernels(const std::filesystem::path& folder) {
  watch_folder(folder, {".cu", ".cuh", ".h", ".json"}, [this] { reload_kernels(); });
}

void SessionCore::watch_folders() {
  for (const std::filesystem::path& dir : options_.kernel_dirs) watch_kernels(dir);
  for (const std::filesystem::path& dir : options_.preset_dirs)
    watch_folder(dir, {".json"}, [this] { list_presets(); });
}

Draft SessionCore::completed(Draft draft) const {
  if (const auto kernel = shelf_.find(draft.kernel))
    if (auto config = catalog::complete_config(*kernel, draft.config.knobs, draft.config.options))
      draft.config = std::move(*config);
  return draft;
}

// Adds a path to the setting that lists the presets opened or saved last, newest first.
void SessionCore::note_recent(const std::string& path) {
  constexpr size_t most = 8;
  Json recent = Json::array({path});
  const Json& all = settings_.all();
  if (const auto kept = all.find(kRecentPresets); kept != all.end() && kept->is_array())
    for (const Json& one : *kept)
      if (one.is_string() && one != path && recent.size() < most) recent.push_back(one);
  set_setting(kRecentPresets, recent);
}

void SessionCore::copy_preset(const std::filesystem::path& path) {
  if (snapshot_.user_preset_dir.empty()) return;
  std::vector<std::string> taken;
  for (const PresetItem& item : *snapshot_.presets) taken.push_back(item.name);
  const auto copy = store::copy_preset(path, snapshot_.user_preset_dir, taken, *snapshot_.kernels);
  if (!worked(copy)) return;
  notices_.toast(LogLevel::info, "Kept as " + copy->string());
  list_presets();
}

void SessionCore::adopt_preset(const std::string& path, const store::Preset& preset) {
  snapshot_.preset_path = path;
  preset_ = preset;
  preset_.device.clear();
  snapshot_.preset_view = preset.view.is_object() ? share(preset.view) : nullptr;
  preset_.config = completed(preset).config;
}

// Compares without device and kernel version, which a preset does not hold.
bool SessionCore::preset_modified() const {
  Draft now = focus_.wanted();
  now.device.clear();
  return !snapshot_.preset_path.empty() && now != static_cast<const Draft&>(preset_);
}

void SessionCore::load_preset(const std::filesystem::path& path) {
  const auto preset = store::read_preset(path, *snapshot_.kernels);
  if (!worked(preset)) return;
  adopt_preset(path.string(), *preset);
  note_recent(path.string());
  const std::string title = preset->title.empty() ? path.stem().string() : preset->title;
  ask({.draft = *preset, .gesture = {0, true, title}, .device_is_wish = true});
}

store::Journal SessionCore::journal_now() const {
  store::Journal journal{{focus_.wanted()}, snapshot_.preset_path, {}};
  for (const auto& [kernel, asked] : *focus_.last_asked()) {
    store::Preset& kept = journal.kernels.emplace_back(store::Preset{asked});
    kept.device.clear();
    kept.measure = {};
  }
  return journal;
}

void SessionCore::save_preset(const std::filesystem::path& path, const std::string& title, const Json& view) {
  store::Preset preset{focus_.wanted()};
  std::error_code error;
  const std::filesystem::path folder = path.parent_path();
  // Only our own folder is created.
  if (folder == snapshot_.user_preset_dir) std::filesystem::create_directories(folder, error);
  preset.title = title;
  if (path == snapshot_.preset_path) {  // overwriting keeps the author's title and note
    if (title.empty()) preset.title = preset_.title;
    preset.note = preset_.note;
    if (preset.kernel == preset_.kernel) preset.invite = preset_.invite;  // the invite names a knob of that kernel
  }
  if (view.is_object()) preset.view = view;
  if (!worked(store::write_preset(path, preset, *snapshot_.kernels))) return;
  adopt_preset(path.string(), preset);
  note_recent(path.string());
  notices_.toast(LogLevel::info, "Saved " + path.string());
  journal_due_ = true;
  list_presets();
}

// Returns true for a shipped preset, and tells the person that it cannot be changed.
bool SessionCore::is_shipped(const std::filesystem::path& preset) {
  const std::filesystem::path folder = preset.parent_path();
  const auto& dirs = options_.preset_dirs;
  if (folder == snapshot_.user_preset_dir || std::ranges::find(dirs, folder) == dirs.end()) return false;
  notices_.toast(LogLevel::warning, preset.string() + " ships with attnscope and stays as it is",
                 "Save it under another name: that copy is yours.");
  changed();
  return true;
}

void SessionCore::describe_preset(const std::filesystem::path& path, const std::string& title,
                                  const std::string& note) {
  if (is_shipped(path) || !worked(store::describe_preset(path, title, note))) return;
  if (path == snapshot_.preset_path) {
    preset_.title = title;
    preset_.note = note;
  }
  list_presets();
}

void SessionCore::delete_preset(const std::filesystem::path& path) {
  if (is_shipped(path)) return;
  const auto aside = store::put_preset_aside(path);
  if (!worked(aside)) return;
  if (path == snapshot_.preset_path) {
    snapshot_.preset_path.clear();
    preset_ = {};
    journal_due_ = true;
  }
  notices_.toast(LogLevel::info, "Deleted " + path.filename().string() + "; it is kept as " + aside->string());
  list_presets();
}

void SessionCore::set_setting(const std::string& key, const Json& value) {
  settings_.set(key, value);
  settings_due_ = true;
  show_settings();
}

void SessionCore::show_settings() {
  if (settings_.all() == *snapshot_.settings) return;
  snapshot_.settings = share(settings_.all());
  changed();
}

// The default preset on the best available device, whatever device the preset names.
Draft SessionCore::default_experiment() {
  Draft first;
  if (const auto preset = store::default_preset(options_.preset_dirs, *snapshot_.kernels)) {
    first = *preset;
    first.device.clear();
    snapshot_.invite = preset->invite;
    return first;
  } else {
    notices_.log(LogLevel::warning, preset.error().message);
  }
  if (shelf_.all().empty()) return first;
  const Kernel& kernel = *shelf_.all().front();
  first.kernel = kernel.id;
  first.problem = kernel.default_problem();
  first.config.options = kernel.options;
  return first;
}

std::optional<Draft> SessionCore::restored_experiment() {
  if (options_.state_dir.empty()) return std::nullopt;
  const std::vector<Kernel>& kernels = *snapshot_.kernels;
  auto journal = store::read_journal(options_.state_dir / "journal.json", kernels);
  if (!journal) {
    notices_.log(LogLevel::warning,
                 "The last experiment is not restored: " + journal.error().message + " " + journal.error().hint);
    return std::nullopt;
  }
  snapshot_.first_start = !*journal;
  if (!*journal) return std::nullopt;
  LastAskedByKernel asked;
  for (const store::Preset& kept : (*journal)->kernels) asked.insert_or_assign(kept.kernel, kept);
  focus_.set_last_asked(std::move(asked));
  if (const std::string& path = (*journal)->preset_path; !path.empty())
    if (const auto preset = store::read_preset(path, kernels)) adopt_preset(path, *preset);
  return (*journal)->last;
}

void SessionCore::start_first_experiment() {
  Draft first = default_experiment();
  if (auto restored = restored_experiment()) first = std::move(*restored);
  if (first.kernel.empty())
    return notices_.toast(LogLevel::error, "There is no kernel to run", "Give a folder with --kernels DIR.");
  if (!options_.first_device.empty()) first.device = options_.first_device;
  ask({.draft = std::move(first), .device_is_wish = true});
}

// Writes what is pending. A failure is reported once; writing is tried again after the next change and at the end.
void SessionCore::write_journal() {
  keep_timer_.stop();
  if (options_.state_dir.empty()) return;
  Result<void> written;
  if (journal_due_) {
    written = store::write_journal(options_.state_dir / "journal.json", journal_now(), *snapshot_.kernels);
    journal_due_ = !written;
  }
  if (settings_due_) {
    const auto saved = settings_.save();
    settings_due_ = !saved;
    if (!saved) written = saved;
    show_settings();  // the settings include other windows' changes
  }
  if (written) {
    keep_warned_ = false;
  } else if (!std::exchange(keep_warned_, true)) {
    notices_.toast(LogLevel::warning, written.error().message, written.error().hint);
    changed();
  }
}

}  // namespace attnscope::session
