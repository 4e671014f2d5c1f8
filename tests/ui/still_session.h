#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/deaf_session.h"

namespace attnscope::ui {

// A session over one fixed snapshot: nothing runs, and every request but two is ignored. It answers a map at once, with
// the same values every time, and also a hold of timing.
class StillSession : public testing_support::DeafSession {
 public:
  explicit StillSession(session::Snapshot snapshot);

  session::Shared<session::Snapshot> snapshot() const override;
  void request_view(ViewRequest request) override;
  void hold_timing(std::string worker, uint64_t hold) override;
  // Shows another snapshot from the next frame on, with the maps that were answered before.
  void show(session::Snapshot snapshot);
  // From any thread.
  void change(const std::function<void(session::Snapshot&)>& how);

  bool times = false;                // what hold_timing() must wait for
  std::shared_ptr<const Tile> tile;  // answers every request for a map, if it is set

 private:
  mutable std::mutex mutex_;
  session::Shared<session::Snapshot> now_;
};

// A snapshot after runs of tests/data/observations, oldest first; the last one is live. It has the kernels `tiled` and
// `minimal`, with a source and a story of the test's own, and the emulated L4.
session::Snapshot snapshot_after(const std::vector<std::string>& recordings);

// Each part of the shown run is kept, from a config that differs by `from`.
void keep_parts(session::Snapshot& snapshot, const char* from);

// A run, and after it a config that was refused: the run's parts stay.
session::Snapshot snapshot_of_a_refusal();

// `snapshot` with the shown run on a GPU, cuda:0. `kernel_hash`: the run's kernel, unless it is empty.
session::Snapshot on_a_gpu(session::Snapshot snapshot, const std::string& kernel_hash = "");

// Gives every run the kernel's current code, and applies `change` to it; the last run stays live.
void revise_runs(session::Snapshot& snapshot, const std::function<void(uint64_t run, Observation&)>& change);

}  // namespace attnscope::ui
