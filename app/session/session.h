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

namespace attnscope::session {

struct WorkerCommand {
  std::string name = "local";
  std::vector<std::string> argv;  // {self, "worker"}; a test gives a fake worker
  bool remote = false;            // over a link that may recover: tried again as long as it is lost
};

struct SessionOptions {
  std::vector<std::filesystem::path> kernel_dirs;  // the shipped ones first
  std::filesystem::path assets_dir;
  std::filesystem::path own_kernels;  // a folder for copies of kernels; made by the first of them; empty: none
  std::filesystem::path own_devices;  // a folder of device specs; empty: none
  std::vector<std::filesystem::path> preset_dirs;
  std::filesystem::path state_dir;  // settings, results database, journal; empty: keep nothing
  std::vector<WorkerCommand> workers;
  std::string
      first_device;  // of the first experiment; a wish; empty: the last one's, else the best of the first worker
  protocol::Deadlines deadlines;
  bool watch_configs = false;    // each new config that ran in focus is watched in the background
  bool watch_files = true;       // reload edited kernels live
  bool first_experiment = true;  // start with the restored or the default experiment in focus
  int silence_ms = 15000;        // a worker that said hello and is then silent for this long is replaced
  int connect_ms = 30000;        // one that says nothing for this long after its start is given up
  int answer_ms = 60000;         // one that makes no progress on a request for this long is replaced
};

// Whether a run of the queue is watched afterwards, for races and outputs that are right by luck.
enum class Watch {
  never,
  emulated,   // if its device is emulated: the watch takes about as long as the run
  always,     // also on a GPU: an emulated device of its architecture does the watch
  whole_grid  // always, and every CTA of the grid instead of a sample
};

// A drag sends every legal step under the same gesture: one entry of history and undo.
struct Gesture {
  uint64_t id = 0;       // equal ids are one gesture
  bool finished = true;  // the knob was released
  std::string change;    // "NUM_WARPS 4 → 8"
};

// Runs every value of these knobs, each knob in its turn and the others held; or one config beside the held one, or a
// list of configs.
struct ScanRequest {
  uint64_t id = 0;  // the caller's name for it
  Draft draft;
  std::vector<std::string> knobs;  // empty: all
  Watch watch = Watch::never;
  bool warned = true;                           // also values that the manifest warns of
  std::vector<Shared<Observation>> known = {};  // runs that are not repeated
  std::map<std::string, int64_t> set = {};      // not empty: only the draft's config with these values, and no knobs
  std::vector<Config> configs = {};             // complete; these instead of the values of knobs
  std::optional<Sharing> sharing = {};          // workers that share its configs; the draft's device is theirs
  bool discards = false;                        // on a GPU what is far slower than the fastest is not timed to the end
  // It gives way to other scans, and does not end when the wanted experiment changes.
  bool stays = false;
};

// The text of a copy's source, for its file.
struct SourceSave {
  uint64_t id = 0;       // the caller's name for it
  std::string kernel;    // one of Snapshot::originals
  std::string based_on;  // what the file held when the text was begun: a file that holds anything else is not replaced
  std::string text;
};

// The workers, lanes, history and undo. Every method but stop() and the futures only posts; none blocks, none does I/O
// on the caller's thread. An interface, so that the window's tests can put a fixed snapshot in its place.
class Session {
 public:
  // A session on its own thread (libuv). `on_change` is called from that thread after each published snapshot and may
  // only wake the caller.
  static Result<std::unique_ptr<Session>> start(SessionOptions options, std::function<void()> on_change);
  virtual ~Session() = default;

  virtual Shared<Snapshot> snapshot() const = 0;  // never null

  // Focus lane: one in flight, one waiting, latest wins. The draft is completed and validated; a refusal comes back as
  // focus.failure.
  virtual void focus(Draft draft, Gesture gesture) = 0;
  virtual void rerun() = 0;   // the wanted experiment, again
  virtual void cancel() = 0;  // the run in focus
  virtual void watch() = 0;  // the wanted experiment, once it has run: in the background, even if it was watched before
  virtual void undo() = 0;   // shows the kept observation, does not rerun
  virtual void redo() = 0;
  virtual void select_history(uint64_t id) = 0;  // 0: back to live
  // Queue lane: every request is answered exactly once.
  virtual std::future<Observation> queue(Draft draft, Watch watch) = 0;
  std::future<Observation> queue(Draft draft) { return queue(std::move(draft), Watch::never); }

  // Scan lane: after everything else, one machine code once. The points land in Snapshot::scans. A scan ends when the
  // wanted experiment changes in anything but one of its knobs, unless it stays.
  virtual void scan(ScanRequest request) = 0;
  // The scan of that id ends at once, with the points that have ended.
  virtual void end_scan(uint64_t id) = 0;
  virtual void request_view(ViewRequest request) = 0;  // answers land in Snapshot::tiles
  // The code of an experiment, with what its last emulated run did: lands in Snapshot::listings, or the reason why not
  // in Snapshot::refused_listings. One that has landed is not made again until the experiment runs again.
  // Of a program: of the launch that is its step number `step`; without one, of the longest, and the listing says
  // which.
  virtual void request_code(Experiment experiment, std::optional<int64_t> step) = 0;
  // Asks what the kernel's online softmax holds of that row, tile by tile; the answer is a listing, by
  // listing_key(hash, row).
  virtual void request_softmax(Experiment experiment, SoftmaxRow row) = 0;
  // Asks what the simulation of the experiment's last emulated run says of its SMs; the answer is a listing, by
  // listing_key(hash, ask).
  virtual void request_timeline(Experiment experiment, TimelineAsk ask) = 0;
  void request_code(Experiment experiment) { request_code(std::move(experiment), std::nullopt); }
  // A star and a note on an experiment's runs, kept at once beside the history; an empty one takes both back.
  virtual void annotate(std::string experiment_hash, store::RunNote note) = 0;
  // Named sessions: the wanted experiment, the runs of the history and `view`, under a title; one of that title is
  // replaced. Opening one asks for its experiment and brings its runs into the history (Snapshot::opened).
  virtual void save_session(std::string title, std::string note, Json view) = 0;
  virtual void open_session(std::filesystem::path path) = 0;
  virtual void close_session() = 0;                              // all runs of the history are shown again
  virtual void delete_session(std::filesystem::path path) = 0;   // to Snapshot::deleted_sessions
  virtual void restore_session(std::filesystem::path path) = 0;  // from there
  virtual void load_preset(std::filesystem::path path) = 0;      // a refusal is a toast and a log line
  virtual void save_preset(std::filesystem::path path, std::string title, Json view) = 0;
  // Sets the title and note of a preset that is not shipped; a refusal is a toast.
  virtual void describe_preset(std::filesystem::path path, std::string title, std::string note) = 0;
  virtual void delete_preset(std::filesystem::path path) = 0;  // moves it aside; a toast says where
  virtual void copy_preset(std::filesystem::path path) = 0;    // into the user's folder, under a free name and title
  virtual void reload_kernels() = 0;
  // Copies the draft's kernel into the user's folder, to be edited, and asks for the draft of the copy. What came of it
  // is Snapshot::copied; a refusal is also a toast.
  virtual void copy_kernel(uint64_t id, Draft draft) = 0;
  virtual void save_source(SourceSave save) = 0;   // and runs it; what came of it is Snapshot::saved
  virtual void reconnect(std::string worker) = 0;  // a lost worker is tried at once
  // Nothing is timed on that worker's GPUs until this is taken back, by 0: what would be waits in its lane. `hold` is
  // the caller's number for it. WorkerStatus::hold says when it holds, since what is timed already ends first.
  virtual void hold_timing(std::string worker, uint64_t hold) = 0;
  virtual void dismiss_toast(uint64_t id) = 0;
  virtual void set_setting(std::string key, Json value) = 0;  // kept in settings.json; shown in Snapshot::settings
  virtual void note(LogLevel level, std::string text) = 0;    // a line for the log

  virtual void stop() = 0;  // ends workers and the thread; idempotent
};

}  // namespace attnscope::session
