#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"
#include "core/result.h"
#include "search/space.h"
#include "sweep/board.h"
#include "sweep/place.h"

namespace attnscope::sweep {

// The microbenchmarks (kernels with a "fragment") among the program's own files. Failure: one does not load.
Result<std::vector<Kernel>> micro_kernels(const std::filesystem::path& resources);
std::filesystem::path micro_folder(const std::filesystem::path& resources);

// What the search of a microbenchmark's configs is asked: those that are a part of the attention problem, with `fixed`
// knobs as in `held`. Excluded are those of them that do not fit the device. Failure (Stage::input): there are too
// many.
struct MicroSearch {
  Plan plan;
  search::Candidates candidates;  // may be none
};
Result<MicroSearch> micro_search(const Kernel& micro, const Config& held, const std::vector<std::string>& fixed,
                                 const Problem& attention, const DeviceSpec& device);

// A fragment's clocks in one config.
struct MicroRow {
  const Kernel* kernel = nullptr;
  Config config;
  FragmentCycles cycles;  // a CTA, of one execution
  double work = 1;        // of one execution, in the fragment's unit
  double per_work() const { return cycles.median / work; }
};

// Of a run that is correct and has clocks; else empty.
Result<std::optional<MicroRow>> micro_row(const Kernel& micro, const Config& config, const Observation& run);

// What the results hold of those microbenchmarks on the device by the same versions, for the problem.
Result<std::vector<MicroRow>> stored_rows(const std::vector<Kernel>& micros, const Problem& attention,
                                          const Found& device, store::Results& results);

// The configs of `kernel` whose fragments take the fewest clocks for their work, the fewest first. A config's fragments
// are those that stand for it (catalog::fragment_stands), with the same values of the knobs that both have; knobs that
// the kernel lacks have their best value. A config for which one of the `micros` that stand for the kernel has no row
// is left out. Of equal ones the earlier comes first. Failure (Stage::catalog): a condition has no value.
Result<std::vector<Config>> fewest_clocks(const std::vector<Kernel>& micros, const std::vector<MicroRow>& rows,
                                          const Kernel& kernel, const Problem& problem,
                                          const std::vector<Config>& configs, size_t most);

// With which a search starts (Search::Settings::seeds), and what to say of it; nothing for a kernel that no fragment
// stands for.
struct MicroSeeds {
  static constexpr size_t kMost = 8;  // the reports' number
  std::vector<Config> configs;
  std::string note;
};
Result<MicroSeeds> micro_seeds(const std::filesystem::path& resources, const Plan& plan,
                               const search::Candidates& candidates, const Found& device, store::Results* results);

}  // namespace attnscope::sweep
