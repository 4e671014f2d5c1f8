// The pictures of shared memory show what the counters count, in kernels that use every kind of access.
#include <gtest/gtest.h>

#include <map>

#include "bench_of_one.h"
#include "core/shared_access.h"
#include "emulator/emulator.h"

namespace attnscope::kernel_tests {
namespace {

TEST(SharedSteps, PhasesAddUpToTheCountedWavefronts) {
  std::map<SharedUse, int> whole;    // instructions of which every execution is recorded
  std::map<size_t, int> phases_met;  // accesses by their number of phases
  for (const char* kernel : {"tiled", "scalar", "wmma", "mma"}) {
    SCOPED_TRACE(kernel);
    const auto ran = run({kernel, "B=1,H=1,S=16,D=64", {}});
    ASSERT_TRUE(ran) << ran.error().message;
    const emulator::RunResult& result = ran->outcome.emulated->result;
    ASSERT_EQ(result.counters.total_ctas, 1u);
    for (const auto& [at, steps] : result.shared_steps) {
      const emulator::InstructionCounters& counted = result.instructions[at];
      if (steps.steps.size() != counted.requests) continue;
      ++whole[steps.shapes.front().use];
      uint64_t shown = 0;
      for (size_t step = 0; step < steps.steps.size(); ++step) {
        const SharedPhases phases = phases_of(steps.access(step));
        ++phases_met[static_cast<size_t>(phases.count)];
        for (const SharedPhase& phase : phases) shown += static_cast<uint64_t>(phase.wavefronts);
      }
      const bool copies = steps.shapes.front().use == SharedUse::copy;
      EXPECT_EQ(counted.wavefronts, copies ? 0 : shown) << "instruction " << at;
    }
  }
  for (const SharedUse use : {SharedUse::load, SharedUse::store, SharedUse::matrices, SharedUse::copy})
    EXPECT_GE(whole[use], 4) << to_string(use);
  for (const size_t phases : {1, 2, 4}) EXPECT_GE(phases_met[phases], 4) << phases;
}

}  // namespace
}  // namespace attnscope::kernel_tests
