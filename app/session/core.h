#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "session/answer_clock.h"
#include "session/device_table.h"
#include "session/focus_lane.h"
#include "session/folder_watch.h"
#include "session/history_log.h"
#include "session/lanes.h"
#include "session/listings.h"
#include "session/notices.h"
#include "session/queue_lane.h"
#include "session/resolve.h"
#include "session/scan_lane.h"
#include "session/session.h"
#include "session/views.h"
#include "session/watch_lane.h"
#include "session/worker_link.h"
#include "store/journal.h"
#include "store/preset.h"
#include "store/results.h"
#include "store/saved_sessions.h"
#include "store/settings.h"

namespace attnscope::session {

// Failure (Stage::input) for a worker that names no program.
Result<void> check_command(const WorkerCommand& worker);

// The session itself, on the loop's thread: only it touches what is here. Events come from the inbox (a person), the
// links (workers), folders and timers; each goes to the lane that it concerns and marks the state for publishing.
class SessionCore final : public LinkEvents {
 public:
  // `publish` gets each new snapshot.
  SessionCore(uv_loop_t* loop, SessionOptions options, std::function<void(Shared<Snapshot>)> publish);

  void start();
  // Ends the workers, answers open requests and writes what is pending, then calls `ended`.
  void shut_down(std::function<void()> ended);

  bool shutting_down() const { return shutting_down_; }

  // core_focus.cpp: a person's requests
  void focus(const Draft& draft, const Gesture& gesture);
  void rerun();
  void cancel();
  void watch();  // core_watch.cpp
  void undo();
  void redo();
  void select_history(uint64_t id);
  void queue(const QueueLane::Request& request);
  void request_view(const ViewRequest& request);
  void request_code(const Experiment& experiment, std::optional<int64_t> step);  // core_code.cpp
  void request_softmax(const Experiment& experiment, const SoftmaxRow& row);
  void request_timeline(const Experiment& experiment, const TimelineAsk& ask);

  void scan(const ScanRequest& request);  // core_scan.cpp
  void end_scan(uint64_t id);

  // core_links.cpp: workers
  void reconnect(const std::string& worker);
  void add_worker(const WorkerCommand& command);
  void remove_worker(const std::string& worker);
  void hold_timing(const std::string& worker, uint64_t hold);

  // core_files.cpp: what is on disk
  void load_preset(const std::filesystem::path& path);
  void save_preset(const std::filesystem::path& path, const std::string& title, const Json& view);
  void describe_preset(const std::filesystem::path& path, const std::string& title, const std::string& note);
  void delete_preset(const std::filesystem::path& path);
  void copy_preset(const std::filesystem::path& path);
  void reload_kernels();
  void copy_kernel(uint64_t id, Draft draft);  // core_source.cpp
  void save_source(const SourceSave& save);    // core_source.cpp
  void annotate(const std::string& hash, const store::RunNote& note);
  void save_session(const std::string& title, const std::string& note, const Json& view);  // core_sessions.cpp
  void open_session(const std::filesystem::path& path);
  void close_session();
  void delete_session(const std::filesystem::path& path);
  void restore_session(const std::filesystem::path& path);
  void set_setting(const std::string& key, const Json& value);

  void dismiss_toast(uint64_t id);
  void note(LogLevel level, const std::string& text);

 private:
  // A request to a worker. Its lane holds its results.
  struct Job {
    Lane lane = Lane::focus;
    Experiment experiment;
    std::string hash;  // of the experiment, with the session's device id
    size_t worker = 0;
    std::string device;  // the worker's own id of it
    // A view's request; for a run, the first view sent along with it, if it has a hash.
    ViewRequest view = {};
    bool watch = false;                        // queue: the run is watched afterwards
    bool watch_all = false;                    // queue: the watch covers every CTA
    bool needless = false;                     // queue: the watch looks for needless barriers
    bool code = false;                         // view: asks for the listing instead of a map
    std::optional<int64_t> step = {};          // view: the listing of the program's launch with this step number
    std::optional<SoftmaxRow> softmax = {};    // view: asks what the code's softmax holds of this row
    std::optional<TimelineAsk> timeline = {};  // view: asks what the simulation says about the SMs
    protocol::Among among = {};                // scan
  };
  struct Worker {
    std::unique_ptr<WorkerLink> link;
    Lanes lanes;
    std::string doing;  // "emulating tiled, 43 of 128 CTAs"
    AnswerClock answer;
    std::optional<protocol::Progress> progress;  // the last progress of the request in flight
    uint64_t hold = 0;                           // not 0: requests that would be timed on a GPU are not sent
    bool removed = false;                        // it keeps its place, so that no other's index changes
  };

  // LinkEvents, core_links.cpp
  void link_up(size_t worker, const protocol::HelloReply& hello) override;
  void link_reply(size_t worker, protocol::Reply reply) override;
  void link_unreadable(size_t worker, JobId id, const std::string& why) override;
  void link_down(size_t worker, const std::string& reason) override;
  void link_lost(size_t worker, const std::string& reason) override;
  void link_changed(size_t worker) override;
  void link_said(size_t worker, const std::string& line) override;
  void take(size_t worker, const protocol::Need& need);
  void take(size_t worker, const protocol::Progress& progress);
  void take(size_t worker, const protocol::Part& part);
  void take(size_t worker, protocol::TileMessage& message);
  void take(size_t worker, protocol::ListingMessage& message);
  void take(size_t worker, const protocol::Done& done);
  void take(size_t worker, const protocol::Log& log);
  template <class LinksOwn>
  void take(size_t, const LinksOwn&) {}
  void open_link(size_t worker);
  void note_answer(Worker& from, const protocol::Reply& reply);
  void check_answers();
  void carry_out(size_t worker, const Lanes::Step& step);
  void submit(JobId id, Job job);
  bool is_timed(JobId id) const;
  void cancel_everywhere(Lane lane);
  void send_job(JobId id, Job& job);
  void end_job(JobId id, std::optional<Failure> failure);
  void release_held();

  // core_focus.cpp
  void ask(FocusLane::Request request);
  void follow(FocusLane::Next next, const DeviceTable::Place& place);
  void finish_focus(const Job& job, std::optional<Failure> failure);
  void enqueue(const QueueLane::Request& request);
  void refuse_view(const ViewRequest& request, Failure why);
  void log_printed(const Printed& printed, const std::string& kernel);

  // core_watch.cpp
  Shared<Observation> with_known_watch(Shared<Observation> observation);
  void watch_later(Shared<Observation> observation);
  void start_watch();
  void finish_watch(std::optional<Failure> failure);

  // core_code.cpp
  void ask_for_code(const Experiment& experiment, const std::string& hash, Job job);
  void send_code(JobId id, const Job& job);
  void end_code(const std::string& hash, std::optional<Failure> failure);

  // core_scan.cpp
  void continue_scan();
  PlaceNow look_at(const DeviceTable::Place& place) const;
  bool give_scan_back(size_t worker, const std::string& why);
  void finish_scan(JobId id, const Job& job, std::optional<Failure> failure);
  void drop_scans();

  // core_files.cpp
  void open_store();
  void keep_result(const Observation& observation);
  void keep_what_waits();
  void restore_history();
  void load_kernels();
  Draft completed(Draft draft) const;
  void note_recent(const std::string& path);
  std::filesystem::path sessions_dir() const;
  void list_sessions();
  void watch_sessions();
  std::vector<store::StoredObservation> stored_runs(const std::vector<store::NamedRun>& runs);
  bool is_session(const std::filesystem::path& path) const;
  void list_presets();
  bool is_shipped(const std::filesystem::path& preset);
  void watch_folders();
  void watch_kernels(const std::filesystem::path& folder);
  void watch_folder(const std::filesystem::path& folder, std::vector<std::string> endings,
                    std::function<void()> changed);
  void find_originals();  // core_source.cpp
  void start_first_experiment();
  void adopt_preset(const std::string& path, const store::Preset& preset);
  bool preset_modified() const;
  std::optional<Draft> restored_experiment();
  Draft default_experiment();
  store::Journal journal_now() const;
  void write_journal();
  void show_settings();

  // core.cpp. Returns false and reports the failure if `result` has one.
  template <class T>
  bool worked(const Result<T>& result) {
    if (!result) notices_.toast(result.error()), changed();
    return result.has_value();
  }
  void changed();
  void publish_now();
  void fill_snapshot();

  uv_loop_t* loop_;
  SessionOptions options_;
  std::function<void(Shared<Snapshot>)> publish_;
  Timer publish_timer_, keep_timer_, watch_timer_, answer_timer_;
  uint64_t answers_checked_at_ = 0;  // loop time
  uint64_t published_at_ = 0;        // loop time

  KernelShelf shelf_;
  DeviceTable devices_;
  std::vector<Worker> workers_;
  std::map<JobId, Job> jobs_;
  JobId next_id_ = 2;  // 1 is a link's hello

  FocusLane focus_;
  QueueLane queue_;
  WatchLane watch_;
  ScanLane scan_;
  Views views_;
  Listings listings_;
  HistoryLog history_;
  bool watches_sessions_ = false;
  Notices notices_;
  Snapshot snapshot_;  // only the parts that no lane holds; fill_snapshot() adds the others

  std::vector<std::unique_ptr<FolderWatch>> watches_;
  store::Preset preset_;  // the loaded preset, its config complete and its device left out
  store::Settings settings_;
  std::unique_ptr<store::Results> results_;
  std::deque<store::StoredObservation> unkept_;         // results that could not be written yet
  std::map<std::string, store::RunNote> unkept_notes_;  // notes that could not be written yet
  bool store_warned_ = false, keep_warned_ = false;     // each is reported once, until writing works again
  bool journal_due_ = false, settings_due_ = false;
  bool shutting_down_ = false;
};

}  // namespace attnscope::session
