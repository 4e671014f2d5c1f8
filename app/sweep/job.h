#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sweep/search.h"
#include "sweep/trials.h"

namespace attnscope::sweep {

enum class Phase { ranking, running, watching, stopped, done, failed };
std::string_view words_of(Phase phase);  // for people
struct JobState;
// "running: 12 of 40, 8 timed briefly, modelled 340 of 1,200", for people.
std::string progress_text(const JobState& state, bool paused);

// The state of a sweep at one moment. Immutable.
struct JobState {
  Phase phase = Phase::running;
  bool over() const { return phase == Phase::stopped || phase == Phase::done || phase == Phase::failed; }
  size_t ended = 0, most = 0;                                 // configs of the device, or of the model while it ranks
  size_t briefly = 0, modelled = 0, to_model = 0;             // as Progress has them
  std::optional<double> left_seconds;                         // empty: unknown, or nothing is left
  session::Shared<Scan> scan;                                 // every requested config; null: none yet
  session::Shared<Trials> trials = session::share<Trials>();  // of `scan`
  std::vector<std::string> notes;
  std::optional<Failure> failure;  // in Phase::failed
};

// Runs a search on its own thread, over a session that others use too. Each config's result is stored at once, so that
// nothing is lost whenever the job ends, and repeating the sweep reuses the results.
class Job {
 public:
  // `results`: path of the file; empty: nothing is stored. `changed` is called on the job's thread after each new
  // state.
  Job(Plan plan, search::Candidates candidates, Place place, std::filesystem::path results, Watching watch,
      std::function<void()> changed);
  ~Job();  // stops the job
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void pause() { control_.pause(); }
  void resume() { control_.resume(); }
  void stop() { control_.stop(); }

  const Plan& plan() const { return plan_; }
  const std::vector<search::Excluded>& excluded() const { return candidates_.excluded; }
  bool paused() const { return control_.paused(); }
  std::shared_ptr<const JobState> state() const;  // never null

 private:
  void work();
  void take(const Progress& now);
  void publish();

  const Plan plan_;
  const search::Candidates candidates_;
  Place place_;
  const std::filesystem::path results_;
  const Watching watch_;
  const std::function<void()> changed_;
  Control control_;
  JobState now_;  // used only by the job's thread
  double published_ms_ = 0;
  bool stale_ = false;  // it has changed since it was last published
  mutable std::mutex mutex_;
  std::shared_ptr<const JobState> published_ = std::make_shared<const JobState>();
  std::thread thread_;  // the last member, because it uses the others
};

}  // namespace attnscope::sweep
