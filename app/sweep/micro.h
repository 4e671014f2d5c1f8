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

// Loads the microbenchmarks (kernels with a "fragment") from the program's own files. Failure: one does not load.
Result<std::vector<Kernel>> micro_kernels(const std::filesystem::path& resources);
std::filesystem::path micro_folder(const std::filesystem::path& resources);

// The search over a microbenchmark's configs: those that fit the attention problem, with `fixed` knobs as in `held`.
// Those that do not fit the device are excluded. Failure (Stage::input): there are too many.
struct MicroSearch {
  Plan plan;
  search::Candidates candidates;  // may be empty
};
Result<MicroSearch> micro_search(const Kernel& micro, const Config& held, const std::vector<std::string>& fixed,
                                 const Problem& attention, const DeviceSpec& device);

// A fragment's clocks in one config.
struct MicroRow {
  const Kernel* kernel = nullptr;
  Config config;
  FragmentCycles cycles;  // per CTA, for one execution
  double work = 1;        // of one execution, in the fragment's unit
  double per_work() const { return cycles.median / work; }
};

// The row of a run that is correct and has clocks; otherwise empty.
Result<std::optional<MicroRow>> micro_row(const Kernel& micro, const Config& config, const Observation& run);

// The stored results of those microbenchmarks on the device, by the same versions and for the problem.
Result<std::vector<MicroRow>> stored_rows(const std::vector<Kernel>& micros, const Problem& attention,
                                          const Found& device, store::Results& results);

// The configs of `kernel` whose fragments take the fewest clocks for their work, ascending. A config's fragments are
// those that stand for it (catalog::fragment_stands) and have the same values of the knobs that both have; knobs that
// the kernel lacks take their best value. A config is left out if one of the `micros` that stand for the kernel has no
// row for it. Equal ones keep their order. Failure (Stage::catalog): a condition has no value.
Result<std::vector<Config>> fewest_clocks(const std::vector<Kernel>& micros, const std::vector<MicroRow>& rows,
                                          const Kernel& kernel, const Problem& problem,
                                          const std::vector<Config>& configs, size_t most);

// The configs with which a search starts (Search::Settings::seeds), and a note on them; empty for a kernel that no
// fragment stands for.
struct MicroSeeds {
  static constexpr size_t kMost = 8;  // the reports' number
  std::vector<Config> configs;
  std::string note;
};
Result<MicroSeeds> micro_seeds(const std::filesystem::path& resources, const Plan& plan,
                               const search::Candidates& candidates, const Found& device, store::Results* results);

}  // namespace attnscope::sweep
