#pragma once
#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/listing.h"

namespace attnscope::worker {

// What the last emulated runs did, instruction by instruction, for listings of their code.
class KeptCode {
 public:
  static constexpr size_t kMost = 16;
  using Runs = std::vector<device::CodeRun>;  // by launch: one, or those of a program

  void keep(std::string experiment_hash, Runs runs) {
    const std::lock_guard lock(mutex_);
    runs_.remove_if([&](const auto& kept) { return kept.first == experiment_hash; });
    runs_.emplace_front(std::move(experiment_hash), std::make_shared<const Runs>(std::move(runs)));
    if (runs_.size() > kMost) runs_.pop_back();
  }

  // Null: it is not kept any more, or was never emulated here.
  std::shared_ptr<const Runs> find(const std::string& experiment_hash) const {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(runs_.begin(), runs_.end(), [&](const auto& kept) { return kept.first == experiment_hash; });
    return found == runs_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const Runs>>> runs_;  // latest first
};

}  // namespace attnscope::worker
