// Parameters that point into a buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "support/temp_dir.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;

constexpr const char* kManifest = R"J({
  "id": "halves", "title": "t", "source": "halves.cu", "entry": "halves", "problem": "custom", "sizes": {"n": 200},
  "buffers": [{"name": "x", "role": "in", "dtype": "f32", "shape": ["2 * n"], "init": "iota"},
              {"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]}],
  "launch": {"grid": ["ceil_div(n, 64)", 1, 1], "block": [64, 1, 1]},
  "args": ["x", {"buffer": "x", "offset": "n"}, "y", "n"],
  "reference": {"kind": "each", "inputs": [], "output": "y", "expr": "2 * index + 200"}})J";

// Returns the run's failure, or an empty text; the observation goes to `seen`.
std::string run(const std::string& sum, Observation& seen) {
  const std::string source =
      "extern \"C\" __global__ void halves(const float* a, const float* b, float* y, int n) {\n"
      "  const int i = blockIdx.x * 64 + threadIdx.x;\n  if (i < n) y[i] = " +
      sum + ";\n}\n";
  const auto kernel = catalog::parse_kernel({"halves.json", kManifest, "halves.cu", source});
  EXPECT_TRUE(kernel) << kernel.error().message;
  if (!kernel) return "it does not load";
  const std::atomic<bool> cancel{false};
  Request request;
  request.kernel = *kernel;
  request.experiment = testing_support::experiment_of(request.kernel);
  request.experiment.problem = kernel->default_problem();
  request.stages.watch = true;
  request.cancel = &cancel;
  const testing_support::TempDir folder;
  const auto services = services_in(folder.path());
  ObservingSink sink;
  const auto done = run_experiment(*services, request, sink);
  seen = sink.observation;
  return done ? "" : done.error().message;
}

TEST(Address, WithinABufferIsReadAndWatchedThere) {
  Observation seen;
  EXPECT_EQ(run("a[i] + b[i]", seen), "");
  ASSERT_TRUE(seen.verdict && seen.watch);
  EXPECT_EQ(seen.verdict->state, VerdictState::correct) << seen.verdict->reason;
  EXPECT_TRUE(seen.watch->findings.empty());
}

TEST(Address, GuardsAreThoseOfTheWholeBuffer) {
  Observation seen;
  EXPECT_EQ(run("a[i + n] + b[i - n]", seen), "") << "both halves are one buffer";
  EXPECT_EQ(seen.verdict->state, VerdictState::correct) << seen.verdict->reason;
  EXPECT_THAT(run("a[i] + b[i + 1]", seen), HasSubstr("halves.cu:3"));
  EXPECT_THAT(run("b[i] + a[i - 1]", seen), HasSubstr("halves.cu:3"));
}

}  // namespace
}  // namespace attnscope::worker
