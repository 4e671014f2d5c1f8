#pragma once
#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/observation.h"
#include "core/problem.h"
#include "device/listing.h"
#include "model/occupancy.h"
#include "model/schedule.h"

namespace attnscope::worker {

// The latency model's input for a launch, kept to simulate it again for a timeline.
struct ModelledLaunch {
  Problem problem;
  VariantInfo variant;
  model::LaunchShape shape;
  Occupancy occupancy;
  Counters counters;
  std::shared_ptr<const model::KernelSchedule> schedule;

  size_t visits() const {  // determines its memory use
    size_t sum = 0;
    for (const model::CtaTrace& trace : schedule->traces)
      for (const auto& warp : trace.warps) sum += warp.size();
    return sum;
  }
};

// The counts of the last emulated runs by instruction, for listings of their code, and the model's input for timelines.
class KeptCode {
 public:
  static constexpr size_t kMost = 16;
  static constexpr size_t kMostVisits = size_t{1} << 23;  // 64 MB in total; above it, older runs keep only their counts
  using Runs = std::vector<device::CodeRun>;              // one entry per launch of the program
  using Modelled = std::vector<ModelledLaunch>;           // one entry per launch

  void keep(std::string experiment_hash, Runs runs, Modelled modelled) {
    const std::lock_guard lock(mutex_);
    runs_.remove_if([&](const Kept& kept) { return kept.experiment_hash == experiment_hash; });
    runs_.push_front({std::move(experiment_hash), std::make_shared<const Runs>(std::move(runs)),
                      std::make_shared<const Modelled>(std::move(modelled))});
    if (runs_.size() > kMost) runs_.pop_back();
    size_t visits = 0;
    for (Kept& kept : runs_) {
      for (size_t i = 0; kept.modelled != nullptr && i < kept.modelled->size(); ++i)
        visits += (*kept.modelled)[i].visits();
      if (visits > kMostVisits && &kept != &runs_.front()) kept.modelled = nullptr;
    }
  }

  // Null if the run was dropped, or never emulated in this process.
  std::shared_ptr<const Runs> find(const std::string& experiment_hash) const {
    return find(experiment_hash, &Kept::runs);
  }
  std::shared_ptr<const Modelled> find_modelled(const std::string& experiment_hash) const {
    return find(experiment_hash, &Kept::modelled);
  }

 private:
  struct Kept {
    std::string experiment_hash;
    std::shared_ptr<const Runs> runs;
    std::shared_ptr<const Modelled> modelled;
  };
  template <class Member>
  std::shared_ptr<const Member> find(const std::string& hash, std::shared_ptr<const Member> Kept::*member) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(runs_, hash, &Kept::experiment_hash);
    return found == runs_.end() ? nullptr : (*found).*member;
  }

  mutable std::mutex mutex_;
  std::list<Kept> runs_;  // newest first
};

}  // namespace attnscope::worker
