#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/space.h"
#include "sweep/job.h"

namespace attnscope::ui {

struct Context;

// What a person has chosen to sweep of one kernel.
struct SweepWishes {
  std::set<std::string> held;                        // knobs that stay as the experiment has them
  std::map<std::string, std::set<int64_t>> ticked;   // values of each other knob; one that is not here: all
  std::map<std::string, std::set<int64_t>> options;  // of each compile option; one that is not here: as it is
  std::set<std::string> devices;                     // of other workers that share the sweep
  search::StrategyKind strategy = search::StrategyKind::exhaustive;
  int budget = 0;  // 0: none
  bool operator==(const SweepWishes&) const = default;
};

// What a start would try, before anything is compiled.
struct SweepPreview {
  std::optional<Failure> refusal;  // why there can be none
  sweep::Plan plan;
  search::Candidates candidates;
  size_t most() const;  // configs that a start would try at most
};

// The window's sweep: what is chosen for the next one, and the one that runs or ran last.
class SweepDesk {
 public:
  // `results`: the file of the user's results; empty: nothing is kept. `resources`: the program's own files. `wake` is
  // called on another thread.
  SweepDesk(session::Session& session, std::filesystem::path results, std::filesystem::path resources,
            std::function<void()> wake)
      : session_(session), results_(std::move(results)), resources_(std::move(resources)), wake_(std::move(wake)) {}

  SweepWishes& wishes(const std::string& kernel) { return wishes_[kernel]; }
  // Of the current experiment's kernel, problem and device. Null while it is counted.
  const SweepPreview* preview(const Context& context);
  // Devices of other workers than that one's which are like it, one of each worker.
  static std::vector<std::string> alike(const session::Snapshot& snapshot, const std::string& device);
  bool counts() const { return preview_ == nullptr; }  // the preview is not there yet
  // Starts what the preview says; nothing if that is not there or refused, or a sweep is on its way.
  void start();

  void pause();
  void resume();
  void stop();
  const sweep::Job* job() const { return job_.get(); }  // null: none yet
  uint64_t started() const { return started_; }         // sweeps so far; job() is the last of them
  bool runs() const { return job_ && !job_->state()->over(); }

 private:
  struct Asked {
    Draft draft;
    std::string kernel_hash;
    bool has_device = false;
    SweepWishes wishes;
    bool operator==(const Asked&) const = default;
  };
  using Counted = std::shared_ptr<const SweepPreview>;

  sweep::Place place() const;
  std::optional<session::Sharing> sharing(const sweep::Found& device) const;

  session::Session& session_;
  std::filesystem::path results_, resources_;
  std::function<void()> wake_;
  std::map<std::string, SweepWishes> wishes_;  // by the kernel's id
  Asked asked_;                                // of preview_, or of what is counted now
  Counted preview_;                            // null: it is counted, or was never asked for
  std::future<Counted> counting_;
  std::unique_ptr<sweep::Job> job_;
  uint64_t started_ = 0;
};

}  // namespace attnscope::ui
