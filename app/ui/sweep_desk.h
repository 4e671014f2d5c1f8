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

// A person's choices for the sweep of one kernel.
struct SweepWishes {
  std::set<std::string> held;                        // knobs that stay as in the experiment
  std::map<std::string, std::set<int64_t>> ticked;   // values of each other knob; a missing knob has all its values
  std::map<std::string, std::set<int64_t>> options;  // values of each compile option; a missing option stays unchanged
  std::set<std::string> devices;                     // of other workers that share the sweep
  search::StrategyKind strategy = search::StrategyKind::exhaustive;
  int budget = 0;  // 0: no limit
  bool operator==(const SweepWishes&) const = default;
};

// What a sweep would try, before anything is compiled.
struct SweepPreview {
  std::optional<Failure> refusal;  // why no sweep is possible
  sweep::Plan plan;
  search::Candidates candidates;
  bool by_nvcc = false;  // nvcc compiles some of them
  size_t most() const;   // the most configs that a sweep would try
};

// A device of another worker that is the experiment's device by its name.
struct OtherDevice {
  std::string id;
  std::string why_not;  // why it cannot share the sweep: another version or limit; empty: it can
};

// The window's sweeps: the choices for the next one, and the running or last one.
class SweepDesk {
 public:
  // `results`: the file of the user's results; empty: nothing is stored. `resources`: the program's own files. `wake`
  // is called on another thread.
  SweepDesk(session::Session& session, std::filesystem::path results, std::filesystem::path resources,
            std::function<void()> wake)
      : session_(session), results_(std::move(results)), resources_(std::move(resources)), wake_(std::move(wake)) {}

  SweepWishes& wishes(const std::string& kernel) { return wishes_[kernel]; }
  // For the current experiment's kernel, problem and device. Null while it is being counted.
  const SweepPreview* preview(const Context& context);
  // Devices of other workers with that one's name, one per worker: of those that can share a sweep if there are any.
  // `by_nvcc`: nvcc compiles some of its configs, so its version counts too.
  static std::vector<OtherDevice> others(const session::Snapshot& snapshot, const std::string& device, bool by_nvcc);
  bool counts() const { return preview_ == nullptr; }  // the preview is still being counted
  // Starts the sweep of the preview. Does nothing if there is no preview, if it was refused, or if a sweep is running.
  void start();

  void pause();
  void resume();
  void stop();
  const sweep::Job* job() const { return job_.get(); }  // null: none yet
  uint64_t started() const { return started_; }         // number of sweeps so far; job() is the last of them
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
  std::map<std::string, SweepWishes> wishes_;  // by kernel id
  Asked asked_;                                // the inputs of preview_, or of the count in progress
  Counted preview_;                            // null: being counted, or never requested
  std::future<Counted> counting_;
  std::unique_ptr<sweep::Job> job_;
  uint64_t started_ = 0;
};

}  // namespace attnscope::ui
