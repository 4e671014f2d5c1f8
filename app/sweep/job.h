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

// A sweep as it is at one moment. Immutable.
struct JobState {
  Phase phase = Phase::running;
  bool over() const { return phase == Phase::stopped || phase == Phase::done || phase == Phase::failed; }
  size_t ended = 0, most = 0;                                 // configs, of the device or of the model that ranks
  std::optional<double> left_seconds;                         // empty: not known, or nothing is left
  session::Shared<Scan> scan;                                 // every config that was asked for; null: none yet
  session::Shared<Trials> trials = session::share<Trials>();  // of `scan`
  std::vector<std::string> notes;
  std::optional<Failure> failure;  // of Phase::failed
};

// A search on a thread of its own over a session that others use too. What comes of each config is kept in the results
// at once, so that nothing is lost whenever it ends; the same sweep again knows it.
class Job {
 public:
  // `results`: the file; empty: nothing is kept. `changed` is called on the job's thread after each new state.
  Job(Plan plan, search::Candidates candidates, Place place, std::filesystem::path results, Watching watch,
      std::function<void()> changed);
  ~Job();  // stops it
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
  JobState now_;  // the job's thread only
  double published_ms_ = 0;
  bool stale_ = false;  // more is known than was published
  mutable std::mutex mutex_;
  std::shared_ptr<const JobState> published_ = std::make_shared<const JobState>();
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace attnscope::sweep
