#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/experiment.h"
#include "core/gpu_reading.h"
#include "core/json_fwd.h"
#include "core/kernel.h"
#include "core/listing.h"
#include "core/observation.h"
#include "core/scan.h"
#include "core/view.h"
#include "session/shared.h"
#include "store/run_note.h"

namespace attnscope::session {

enum class WorkerState { starting, ready, busy, restarting, lost };
std::string_view to_string(WorkerState state);

// Why a link has no worker now. What helps depends on it.
enum class LinkTrouble {
  none,
  no_program,     // the command's program cannot be started on this machine
  unreachable,    // the command ended with status 255, as ssh does when it does not reach its machine
  no_worker,      // it ended with 126 or 127, as a shell does when it cannot run the worker
  other_version,  // another attnscope answered
  silent,         // nothing was heard of it in time
  ended           // anything else
};

struct WorkerStatus {
  std::string name;  // "local"
  WorkerState state = WorkerState::starting;
  std::string detail;  // why it restarts, or what it does: "emulating tiled, 43 of 128 CTAs"
  Versions versions;
  std::vector<DeviceSpec> devices;
  bool waits = false;  // starting, and its command wrote to stderr: it may be in a queue for hours
  uint64_t hold = 0;   // the number of the Session::hold_timing() in force: nothing is timed there
  std::vector<std::string> command = {};
  bool remote = false;
  LinkTrouble trouble = LinkTrouble::none;   // while it is restarting or lost
  std::optional<double> round_trip_ms = {};  // of a remote worker's last greeting, to two digits
  std::vector<GpuReading> gpus = {};         // the last ones, taken while nothing ran; with the worker's own ids
};

// The parts of an observation that arrive separately, each from its own stage.
enum class Part { variant, occupancy, counters, verdict, timing };
inline constexpr int kParts = 5;

enum class PartState {
  none,     // never delivered
  kept,     // from a previous experiment, shown dimmed and named
  partial,  // of the wanted experiment, not complete yet
  fresh,    // of the wanted experiment, final
  failed    // the wanted experiment failed in this stage or an earlier one
};
// If a config is refused before anything is sent (failure set, not running), the parts stay kept. Counters that were
// incomplete when the run failed are failed, and Focus::shown has their values up to that point.

// The state of the wanted experiment's watch. Its results are in Focus::shown, under `watch`.
enum class WatchState { none, waiting, running, done, failed };

// The experiment that the knobs describe, and what is shown for it.
struct Focus {
  Experiment wanted;
  std::string wanted_hash;
  std::string change;  // what the last gesture did: "NUM_WARPS 4 → 8"; empty at first start
  // Parts of `shown` may come from different experiments while one runs. part_hash says which experiment each part
  // belongs to; part_from names it for the dimmed label ("BLOCK_M=32 NUM_WARPS=4").
  Shared<Observation> shown;
  PartState parts[kParts] = {};
  std::string part_hash[kParts];
  std::string part_from[kParts];
  // Id of the run in the history whose figures are shown: the wanted experiment's once it has ended, the previous one's
  // while its time is kept; 0: none.
  uint64_t run = 0;
  bool running = false;
  std::string stage;               // "compiling", "emulating", "checking"
  double progress = 0;             // 0…1, share of the emulated CTAs; 0: unknown
  std::optional<Failure> failure;  // the wanted experiment's
  WatchState watch = WatchState::none;
  double watch_progress = 0;             // 0…1
  std::optional<Failure> watch_failure;  // why it could not be watched
  std::string same_code_as;              // short text of an earlier config with identical machine code; empty: none
};

// The last request of each kernel, by kernel id, used when a person returns to that kernel.
using LastAskedByKernel = std::map<std::string, Draft>;

struct HistoryEntry {
  uint64_t id = 0;  // counts runs from 1
  Shared<Observation> observation;
  std::string change;       // the gesture that led to it
  std::string config_text;  // short_text(config, kernel)
  double finished_at = 0;   // seconds since the epoch
};

// A person's stars and notes on experiments, by experiment hash.
using RunNotes = std::map<std::string, store::RunNote>;

// Append-only. Snapshots share chunks, so that a new snapshot never copies old entries.
struct HistoryChunk {
  std::vector<HistoryEntry> entries;
};
struct History {
  std::vector<Shared<HistoryChunk>> chunks;
  size_t size = 0;
  const HistoryEntry& at(size_t index) const;  // oldest first
};

using LogLevel = Severity;
struct LogLine {
  double at = 0;  // seconds since the epoch
  LogLevel level = LogLevel::info;
  std::string text;
};

struct PresetItem {
  std::string name;  // the title in the file, or the file's name
  std::string path;
  std::string group;  // "Reports", "Defaults", "Yours"
  std::string note;
  bool own = false;                 // in the user's own folder: it can be renamed, described and deleted
  std::optional<Draft> draft = {};  // with its config complete; empty: its kernel does not load
};

// A saved named session.
struct SavedSession {
  std::string title, path, note;
  std::string kernel;  // kernel id
};

// The named session opened last.
struct OpenedSession {
  uint64_t number = 0;      // changes with each opening and closing
  std::string title, path;  // empty: no session is open
  Shared<Json> view;        // the saved state of the window, an object; null: no session is open
  Shared<std::set<uint64_t>> runs = share<std::set<uint64_t>>();  // ids of its entries in the history
  uint64_t since = 0;                                             // entries with a larger id ran after it was opened
};

// Key of the setting that lists the paths of the presets opened or saved last, newest first.
inline constexpr const char* kRecentPresets = "recent_presets";

// The result of Session::copy_kernel().
struct CopiedKernel {
  uint64_t id = 0;     // the caller's number; 0: nothing was requested
  std::string kernel;  // id of the copy; empty: refused, and a toast says why
};

// The result of Session::save_source().
struct SavedSource {
  uint64_t id = 0;  // the caller's number; 0: nothing was requested
  std::optional<Failure> failure;
  std::optional<std::string> changed;  // set if the file had changed and was not written: its present content
};

struct Toast {
  uint64_t id = 0;
  LogLevel level = LogLevel::info;
  std::string text;
  std::string hint;
};

Shared<Json> no_settings();

// Everything that a panel may show. Immutable, published atomically. Only preset_view may be null.
struct Snapshot {
  uint64_t version = 0;
  Focus focus;
  std::optional<HistoryEntry> selected;  // the history entry shown instead of the focus; empty: the focus is shown
  Shared<std::vector<Kernel>> kernels = share<std::vector<Kernel>>();
  Shared<std::vector<Failure>> kernel_failures = share<std::vector<Failure>>();  // kernels that did not load
  // For each kernel that is an editable copy, by id: the source it was copied from.
  Shared<std::map<std::string, std::string>> originals = share<std::map<std::string, std::string>>();
  CopiedKernel copied;
  SavedSource saved;
  std::string own_kernels_dir;  // where copies of kernels are put; empty: nowhere
  Shared<LastAskedByKernel> last_asked = share<LastAskedByKernel>();
  Shared<std::vector<DeviceSpec>> devices = share<std::vector<DeviceSpec>>();
  Shared<std::vector<PresetItem>> presets = share<std::vector<PresetItem>>();
  Shared<std::vector<SavedSession>> sessions = share<std::vector<SavedSession>>();          // by title
  Shared<std::vector<SavedSession>> deleted_sessions = share<std::vector<SavedSession>>();  // by title
  OpenedSession opened;
  std::vector<WorkerStatus> workers;
  History history;
  Shared<RunNotes> notes = share<RunNotes>();
  Shared<std::vector<LogLine>> log = share<std::vector<LogLine>>();  // the last 2,000 lines
  std::vector<Toast> toasts;
  std::map<std::string, Shared<Tile>> tiles;  // newest tile by tile_key(request)
  // Why there is no tile, by tile_key(request); cleared when its experiment runs again.
  std::map<std::string, Failure> refused_views;
  std::map<std::string, Shared<Listing>> listings;  // by listing_key()
  std::map<std::string, Failure> refused_listings;  // why there is no listing, by listing_key()
  std::vector<Shared<Scan>> scans;                  // the latest ones, oldest first
  size_t queue_waiting = 0;
  bool can_undo = false, can_redo = false;
  std::string device_reason;  // why this device was chosen at first start, as text
  std::string preset_path;    // of the loaded preset; empty: none
  std::string preset_title, preset_note;
  bool preset_modified = false;
  Shared<Json> preset_view;               // the loaded preset's "view", an object; null: none
  std::string user_preset_dir;            // the folder that "save" offers for a new preset; empty: nothing is kept
  Shared<Json> settings = no_settings();  // the window's settings, an object
  std::map<std::string, int64_t> invite;  // of the default preset: a knob and the value to try first; empty: none
  bool first_start = false;               // no earlier start left anything
};

std::string tile_key(const ViewRequest& request);
const Kernel* find_kernel(const Snapshot& snapshot, const std::string& id);
const DeviceSpec* find_device(const Snapshot& snapshot, const std::string& id);
// The worker of device `id`: "l4box/cuda:0" belongs to l4box, an id without a slash to the first worker. Null if there
// are no workers yet.
const WorkerStatus* worker_of(const Snapshot& snapshot, const std::string& id);
// The worker has said hello and takes requests.
bool is_up(const WorkerStatus& worker);

}  // namespace attnscope::session
