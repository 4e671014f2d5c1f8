#pragma once
#include <atomic>
#include <filesystem>
#include <memory>

#include "faults/support/worker_client.h"
#include "worker/pipeline.h"

namespace attnscope::worker {

// The minimal kernel on one head of 32 rows.
inline Request small_request(const std::atomic<bool>& cancel) {
  Request request;
  request.kernel = testing_support::shipped_kernel("kernels/01_minimal.json");
  request.experiment = testing_support::experiment_of(request.kernel);
  Problem& problem = request.experiment.problem;
  problem.heads = problem.kv_heads = 1;
  problem.seq_q = problem.seq_k = 32;
  request.cancel = &cancel;
  return request;
}

// Keeps the observation as a client would.
class ObservingSink final : public Sink {
 public:
  void part(std::vector<protocol::PartValue> values, bool final) override {
    apply_part(observation, protocol::Part{0, std::move(values), final});
  }
  void tile(Tile) override {}
  void progress(protocol::Step, int64_t, int64_t) override {}
  Observation observation;
};

inline std::unique_ptr<Services> services_in(const std::filesystem::path& cache, Purpose purpose = Purpose::run) {
  const std::filesystem::path assets = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets";
  return std::make_unique<Services>("test", cache, assets, catalog::load_devices(assets / "devices"), purpose);
}

}  // namespace attnscope::worker
