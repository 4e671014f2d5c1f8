#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "catalog/devices.h"
#include "compile/compiler.h"
#include "core/observation.h"
#include "core/result.h"
#include "device/device.h"
#include "platform/cpu_time.h"
#include "worker/ahead.h"
#include "worker/begun_run.h"
#include "worker/job_pool.h"
#include "worker/kept_clocks.h"
#include "worker/kept_code.h"
#include "worker/kept_reference.h"
#include "worker/kept_runs.h"
#include "worker/purpose.h"
#include "worker/truth_maker.h"

namespace attnscope::worker {

// Everything that outlives a request.
struct Services {
  // `cache` gets the folders variants/, programs/ and references/; empty: nothing is kept on disk. `assets` contains
  // gpu/.
  Services(std::string app_version, const std::filesystem::path& cache, const std::filesystem::path& assets,
           catalog::DeviceCatalog emulated, Purpose purpose = Purpose::run);

  std::string app_version;
  Purpose purpose;
  std::shared_ptr<compile::Compiler> compiler;
  std::vector<std::shared_ptr<device::Device>> devices;
  std::vector<Failure> device_failures;  // specs that did not load, a driver without a GPU
  TruthMaker truth;
  KeptRuns kept;
  KeptCode code;
  KeptClocks clocked;
  KeptReference reference;
  std::filesystem::path decoded_cache;  // programs that nvdisasm decoded; empty: none on disk
  JobPool pool{JobPool::threads_for(platform::usable_processors())};
  Ahead ahead;
  BegunRun begun{pool};

  // Stage::device: there is no such device.
  Result<std::shared_ptr<device::Device>> find_device(const std::string& id) const;
  std::shared_ptr<device::Device> emulated_twin(int arch) const;  // null if there is none
  // Compiles on the pool within that deadline. Failures: the compiler's; Stage::cancelled.
  Result<std::shared_ptr<const compile::Variant>> compile(compile::CompileRequest wanted, int64_t deadline_ms,
                                                          const std::atomic<bool>& cancel);
  Versions versions() const;
  bool lost() const;  // a device's context is unusable, so this process must end

 private:
  void add_gpus(const std::filesystem::path& assets, const std::vector<DeviceSpec>& twins);

  std::string driver_;  // "580.95.05, CUDA 13.0"; empty: none
};

}  // namespace attnscope::worker
