#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/view.h"
#include "protocol/message.h"
#include "session/sharing.h"
#include "session/snapshot.h"
#include "store/workers.h"

namespace attnscope::session {

struct WorkerCommand {
  std::string name = store::kOwnWorker;
  std::vector<std::string> argv;  // {self, "worker"}; a test gives a fake worker
  bool remote = false;            // over a link that may recover; a lost worker is retried until it returns
};

struct SessionOptions {
  std::vector<std::filesystem::path> kernel_dirs;  // the shipped ones first
  std::filesystem::path assets_dir;
  std::filesystem::path own_kernels;  // folder for copies of kernels, made with the first copy; empty: none
  std::filesystem::path own_devices;  // folder of device specs; empty: none
  std::vector<std::filesystem::path> preset_dirs;
  std::filesystem::path state_dir;  // settings, results database, journal; empty: keep nothing
  std::vector<WorkerCommand> workers;
  // Wished device of the first experiment; empty: the last one used, otherwise the first worker's best.
  std::string first_device;
  protocol::Deadlines deadlines;
  bool watch_configs = false;    // watches each new config that ran in focus, in the background
  bool watch_files = true;       // reloads kernels when their files change
  bool first_experiment = true;  // starts with the restored or the default experiment in focus
  int silence_ms = 15000;        // a worker that said hello and is then silent for this long is replaced
  int connect_ms = 30000;        // one that says nothing for this long after its start is given up
  int answer_ms = 60000;         // one that makes no progress on a request for this long is replaced
};

// Whether a run of the queue is watched afterwards for races and for outputs that are right only by luck.
enum class Watch {
  never,
  emulated,   // if its device is emulated: the watch takes about as long as the run
  always,     // also on a GPU; an emulated device of its architecture does the watch
  explained,  // as always, and the watch looks for needless barriers too
  whole_grid  // as always, over every CTA of the grid instead of a sample
};

// A user's gesture. A drag sends every legal step with one id and leaves one entry in the history and in undo.
struct Gesture {
  uint64_t id = 0;       // equal ids are one gesture
  bool finished = true;  // the knob was released
  std::string change;    // "NUM_WARPS 4 → 8"
};

// Runs every value of the given knobs, one knob after the other, with the other knobs unchanged. Or runs one config
// beside the draft's, or a list of configs.
struct ScanRequest {
  uint64_t id = 0;  // chosen by the caller
  Draft draft;
  std::vector<std::string> knobs;  // empty: all
  Watch watch = Watch::never;
  bool warned = true;                           // includes values that the manifest warns about
  std::vector<Shared<Observation>> known = {};  // finished runs, which are not repeated
  std::map<std::string, int64_t> set = {};      // not empty: runs only the draft's config with these values
  std::vector<Config> configs = {};             // complete configs to run instead of knob values
  // Workers that share the points; the draft's device stands for all of them.
  std::optional<Sharing> sharing = {};
  // On a GPU, stops timing a config early if it is far slower than the fastest.
  bool discards = false;
  // Gives way to other scans, and does not end when the wanted experiment changes.
  bool stays = false;
};

// New text for the file of a copied kernel's source.
struct SourceSave {
  uint64_t id = 0;       // chosen by the caller
  std::string kernel;    // one of Snapshot::originals
  std::string based_on;  // the file's content when editing began; a file with any other content is not replaced
  std::string text;
};

// The workers, lanes, history and undo. Except for stop() and waiting on a future, every method only posts: none
// blocks, and none does I/O on the caller's thread. An interface, so that the window's tests can supply a fixed
// snapshot.
class Session {
 public:
  // Starts a session on its own thread (libuv). `on_change` is called on that thread after each published snapshot and
  // may only wake the caller.
  static Result<std::unique_ptr<Session>> start(SessionOptions options, std::function<void()> on_change);
  virtual ~Session() = default;

  virtual Shared<Snapshot> snapshot() const = 0;  // never null

  // Focus lane: one request in flight, one waiting, the latest wins. The draft is completed and validated; a refusal
  // appears as focus.failure.
  virtual void focus(Draft draft, Gesture gesture) = 0;
  virtual void rerun() = 0;   // runs the wanted experiment again
  virtual void cancel() = 0;  // ends the run in focus
  // Watches the wanted experiment in the background once it has run, even if it was watched before.
  virtual void watch() = 0;
  virtual void undo() = 0;  // shows the kept observation without a new run
  virtual void redo() = 0;
  virtual void select_history(uint64_t id) = 0;  // 0: back to live
  // Queue lane: every request is answered exactly once.
  virtual std::future<Observation> queue(Draft draft, Watch watch) = 0;
  std::future<Observation> queue(Draft draft) { return queue(std::move(draft), Watch::never); }

  // Scan lane: runs after every other lane and times each machine code once. The points appear in Snapshot::scans. A
  // scan ends when the wanted experiment changes in anything but one of the scan's knobs, unless it stays.
  virtual void scan(ScanRequest request) = 0;
  // Ends that scan at once; the points that have finished remain.
  virtual void end_scan(uint64_t id) = 0;
  virtual void request_view(ViewRequest request) = 0;  // the answer appears in Snapshot::tiles
  // Requests the code of an experiment with the counts of its last emulated run. It appears in Snapshot::listings, or
  // the reason for its absence in Snapshot::refused_listings. A listing that has arrived is not made again until the
  // experiment runs again. For a program, `step` selects the launch with that step number; without it, the longest
  // launch is listed, and the listing says which.
  virtual void request_code(Experiment experiment, std::optional<int64_t> step) = 0;
  // Requests what the kernel's online softmax holds of that row, tile by tile. The answer is a listing under
  // listing_key(hash, row).
  virtual void request_softmax(Experiment experiment, SoftmaxRow row) = 0;
  // Requests how the SMs of the experiment's run spend their time: from the simulation of its last emulated run, or
  // from a GPU's clocks, which launches an instrumented twin. The answer is a listing under listing_key(hash, ask).
  virtual void request_timeline(Experiment experiment, TimelineAsk ask) = 0;
  void request_code(Experiment experiment) { request_code(std::move(experiment), std::nullopt); }
  // Sets a star and a note on an experiment's runs, stored at once beside the history. An empty RunNote removes both.
  virtual void annotate(std::string experiment_hash, store::RunNote note) = 0;
  // Named sessions store the wanted experiment, the runs of the history and `view` under a title, and replace one with
  // the same title. Opening one requests its experiment and brings its runs into the history (Snapshot::opened).
  virtual void save_session(std::string title, std::string note, Json view) = 0;
  virtual void open_session(std::filesystem::path path) = 0;
  virtual void close_session() = 0;                              // the history shows all runs again
  virtual void delete_session(std::filesystem::path path) = 0;   // moves it to Snapshot::deleted_sessions
  virtual void restore_session(std::filesystem::path path) = 0;  // moves it back
  virtual void load_preset(std::filesystem::path path) = 0;      // a refusal appears as a toast and a log line
  virtual void save_preset(std::filesystem::path path, std::string title, Json view) = 0;
  // Sets the title and note of a preset that is not shipped. A refusal appears as a toast.
  virtual void describe_preset(std::filesystem::path path, std::string title, std::string note) = 0;
  virtual void delete_preset(std::filesystem::path path) = 0;  // moves the file aside; a toast says where
  virtual void copy_preset(std::filesystem::path path) = 0;    // into the user's folder, with a free name and title
  virtual void reload_kernels() = 0;
  // Copies the draft's kernel into the user's folder for editing and requests the draft with the copy. The result is
  // Snapshot::copied; a refusal also appears as a toast.
  virtual void copy_kernel(uint64_t id, Draft draft) = 0;
  virtual void save_source(SourceSave save) = 0;   // writes the file and runs the kernel; the result is Snapshot::saved
  virtual void reconnect(std::string worker) = 0;  // retries a lost worker at once
  // Starts another worker, after the others. A name that another one has is refused with a toast.
  virtual void add_worker(WorkerCommand worker) = 0;
  // Ends a worker that is not the first, and what it runs; its devices are gone.
  virtual void remove_worker(std::string worker) = 0;
  // Nothing is timed on that worker's GPUs until a call with hold 0: requests that would be timed wait in their lanes.
  // `hold` is a number that the caller chooses. A measurement that is running ends first; WorkerStatus::hold has the
  // number once the hold is in force.
  virtual void hold_timing(std::string worker, uint64_t hold) = 0;
  virtual void dismiss_toast(uint64_t id) = 0;
  virtual void set_setting(std::string key, Json value) = 0;  // stored in settings.json, shown in Snapshot::settings
  virtual void note(LogLevel level, std::string text) = 0;    // adds a line to the log

  virtual void stop() = 0;  // ends the workers and the thread; may be called twice
};

}  // namespace attnscope::session
