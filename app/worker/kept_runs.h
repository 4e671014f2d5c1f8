#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "check/guarded_buffer.h"
#include "check/reference.h"
#include "core/problem.h"
#include "core/view.h"

namespace attnscope::worker {

// A finished run, kept for map requests.
struct KeptRun {
  std::string experiment_hash;
  Problem problem;
  std::shared_ptr<const check::GuardedBuffer> output;
  std::shared_ptr<const check::Reference> reference;  // null if there is none
};

// The last few runs. Used by the thread that runs experiments and the thread that answers view requests.
class KeptRuns {
 public:
  explicit KeptRuns(size_t most = 4, size_t most_bytes = size_t{1} << 30) : most_(most), most_bytes_(most_bytes) {}
  void keep(KeptRun run);
  // Stage::device if the run is no longer kept.
  Result<Tile> view(const ViewRequest& request) const;

 private:
  size_t most_, most_bytes_;
  mutable std::mutex mutex_;
  std::list<KeptRun> runs_;  // newest first
};

}  // namespace attnscope::worker
