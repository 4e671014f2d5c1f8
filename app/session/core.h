#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "session/answer_clock.h"
#include "session/device_table.h"
#include "session/focus_state.h"
#include "session/folder_watch.h"
#include "session/history_log.h"
#include "session/lanes.h"
#include "session/notices.h"
#include "session/resolve.h"
#include "session/session.h"
#include "session/undo.h"
#include "session/views.h"
#include "session/watch_lane.h"
#include "session/worker_link.h"
#include "store/journal.h"
#include "store/preset.h"
#include "store/results.h"
#include "store/settings.h"

namespace attnscope::session {

// The answer to a request that the session's end overtook.
Observation session_over();

using Answer = std::promise<Observation>;

// The session itself, on the loop's thread: it alone touches what is here. Events come from the inbox (a person), the
// links (workers), folders and timers; each changes the state and marks it for publishing.
class SessionCore final : public LinkEvents {
 public:
  // `publish` gets each new snapshot.
  SessionCore(uv_loop_t* loop, SessionOptions options, std::function<void(std::shared_ptr<const Snapshot>)> publish);
  ~SessionCore() override;

  void start();
  // Ends the workers, answers what is unanswered, writes what is to be kept; then `ended`.
  void shut_down(std::function<void()> ended);

  bool shutting_down() const { return shutting_down_; }

  // core_focus.cpp: what a person asks for
  void focus(const Draft& draft, const Gesture& gesture);
  void rerun();
  void cancel();
  void watch();  // core_watch.cpp
  void undo();
  void redo();
  void select_history(uint64_t id);
  void queue(const Draft& draft, Watch watch, std::shared_ptr<Answer> answer);
  void request_view(const ViewRequest& request);
  void log_printed(const Printed& printed, const std::string& kernel);
  void refuse_view(const ViewRequest& request, Failure why);

  // core_links.cpp: workers
  void reconnect(const std::string& worker);

  // core_files.cpp: what is on disk
  void load_preset(const std::filesystem::path& path);
  void save_preset(const std::filesystem::path& path, const std::string& title, const Json& view);
  void describe_preset(const std::filesystem::path& path, const std::string& title, const std::string& note);
  void delete_preset(const std::filesystem::path& path);
  void reload_kernels();
  void set_setting(const std::string& key, Json value);

  void dismiss_toast(uint64_t id);
  void note(LogLevel level, std::string text);

 private:
  struct Job {
    Lane lane = Lane::focus;
    Experiment experiment;
    std::string hash;  // of the session's experiment
    std::shared_ptr<const Kernel> kernel;
    DeviceTable::Place place;
    uint64_t gesture = 0;                        // focus
    ViewRequest view;                            // view; of a run: the first view asked with it, if it has a hash
    Observation own;                             // queue, background
    bool watch = false;                          // queue
    std::shared_ptr<const Observation> watched;  // background: what the watch is of
    std::shared_ptr<Answer> answer;              // queue
    bool sent_before = false;
  };
  struct Worker {
    std::unique_ptr<WorkerLink> link;
    Lanes lanes;
    std::string doing;  // "emulating tiled, 43 of 128 CTAs"
    AnswerClock answer;
    std::optional<protocol::Progress> progress;  // the last of the request in flight
  };
  struct HeldFocus {
    Draft draft;
    Gesture gesture;
    bool device_is_wish = false;
  };
  struct HeldQueue {
    Draft draft;
    Watch watch = Watch::never;
    std::shared_ptr<Answer> answer;
  };

  // LinkEvents, core_links.cpp
  void link_up(size_t worker, const protocol::HelloReply& hello) override;
  void link_reply(size_t worker, protocol::Reply reply) override;
  void link_down(size_t worker, const std::string& reason) override;
  void link_lost(size_t worker, const std::string& reason) override;
  void link_changed(size_t worker) override;
  void link_said(size_t worker, const std::string& line) override;
  void take_need(size_t worker, const protocol::Need& need);
  void take_progress(size_t worker, const protocol::Progress& progress);
  void take_part(const protocol::Part& part);
  void take_tile(protocol::TileMessage message);
  void take_done(size_t worker, const protocol::Done& done);
  void note_answer(Worker& from, const protocol::Reply& reply);
  void check_answers();
  void carry_out(size_t worker, const Lanes::Step& step);
  void send_job(size_t worker, JobId id, Job& job);
  void end_job(JobId id, std::optional<Failure> failure);
  void release_held();

  // core_focus.cpp
  void focus_on(Draft draft, Gesture gesture, bool device_is_wish);
  void run_focus(Resolution resolution, const Gesture& gesture);
  void refuse_focus(Resolution resolution, const Gesture& gesture);
  void submit_focus(uint64_t gesture, DeviceTable::Place place);
  void leave_focus_job();
  void finish_focus(const Job& job, std::optional<Failure> failure);
  void step_through(const UndoState* state);
  void enqueue(const Draft& draft, Watch watch, std::shared_ptr<Answer> answer);
  void note_same_code();
  void remember_asked();
  void keep_result(const Observation& observation);
  void keep_what_waits();

  // core_watch.cpp
  std::shared_ptr<const Observation> with_known_watch(std::shared_ptr<const Observation> observation);
  void watch_later(std::shared_ptr<const Observation> observation);
  void start_watch();
  void drop_watch();
  void finish_watch(Job& job, std::optional<Failure> failure);
  void amend(const std::shared_ptr<const Observation>& before, const std::shared_ptr<const Observation>& after);

  // core_files.cpp
  void open_store();
  void restore_history();
  void load_kernels();
  void list_presets();
  bool refuse_shipped(const std::filesystem::path& preset);
  void watch_folders();
  void start_first_experiment();
  void adopt_preset(const std::string& path, const store::Preset& preset);
  bool preset_modified() const;
  std::optional<HeldFocus> restored_experiment();
  HeldFocus default_experiment();
  store::Journal journal_now() const;
  void write_journal();
  std::filesystem::path user_preset_dir() const;

  // core.cpp
  void changed();
  void publish_now();
  Snapshot snapshot();

  uv_loop_t* loop_;
  SessionOptions options_;
  std::function<void(std::shared_ptr<const Snapshot>)> publish_;
  Timer publish_timer_, keep_timer_, watch_timer_, answer_timer_;
  uint64_t answers_checked_at_ = 0;  // loop time
  uint64_t published_at_ = 0;        // loop time
  uint64_t version_ = 0;

  KernelShelf shelf_;
  std::shared_ptr<const std::vector<Kernel>> kernels_;
  std::shared_ptr<const std::vector<Failure>> kernel_failures_;
  DeviceTable devices_;
  std::vector<Worker> workers_;
  std::map<JobId, Job> jobs_;
  JobId next_id_ = 2;  // 1 is a link's hello

  FocusState focus_;
  WatchLane watch_;
  uint64_t focus_gesture_ = 0;  // that wanted came from
  std::shared_ptr<const LastAskedByKernel> last_asked_;
  std::optional<HeldFocus> held_focus_;  // until a worker says what devices it has
  std::vector<HeldQueue> held_queue_;
  std::string device_reason_;
  UndoStack undo_;
  HistoryLog history_;
  std::optional<HistoryEntry> selected_;
  struct CodeOwner {
    Experiment experiment;
    std::shared_ptr<const Kernel> kernel;
  };
  std::map<std::string, std::vector<CodeOwner>> code_owners_;  // configs seen, by code hash

  Views views_;

  Notices notices_;
  std::vector<std::unique_ptr<FolderWatch>> watches_;
  std::shared_ptr<const std::vector<PresetItem>> presets_;
  std::string preset_path_;                // of the loaded preset; empty: none
  store::Preset preset_;                   // the loaded one, its config complete and without its device
  std::map<std::string, int64_t> invite_;  // of the default preset
  std::shared_ptr<const Json> preset_view_;
  std::shared_ptr<const Json> settings_shown_;
  store::Settings settings_;
  std::unique_ptr<store::Results> results_;
  std::deque<store::StoredObservation> unkept_;      // results that could not be written yet
  bool store_warned_ = false, keep_warned_ = false;  // said once, until it works again
  bool journal_due_ = false, settings_due_ = false;
  bool first_start_ = false;
  bool shutting_down_ = false;
};

}  // namespace attnscope::session
