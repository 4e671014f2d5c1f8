#include "charts/words.h"

#include <gtest/gtest.h>

#include "charts/tables.h"

namespace attnscope::charts {
namespace {

Observation bound_by(Bound bound) {
  Observation seen;
  seen.timing.emplace().bound = bound;
  Counters& counters = seen.counters.emplace();
  counters.shared_wavefronts = 1000;
  counters.shared_bank_conflicts = 750;
  counters.active_lanes_mean = 12.34;
  seen.occupancy.emplace().warps_per_sm = 8;
  return seen;
}

TEST(BoundSentence, HasTheFigureThatShowsIt) {
  EXPECT_EQ(bound_sentence(bound_by(Bound::shared_memory)),
            "bound by shared memory: 75.0 % of its wavefronts are bank conflicts");
  EXPECT_EQ(bound_sentence(bound_by(Bound::issue_slots)),
            "bound by issue slots: 12.3 of 32 lanes take part on average");
  EXPECT_EQ(bound_sentence(bound_by(Bound::instruction_latency)),
            "bound by instruction latency: 8 warps per SM to hide it behind");
  EXPECT_EQ(bound_sentence(bound_by(Bound::tensor_cores)), "bound by Tensor Cores");
  EXPECT_EQ(bound_sentence(bound_by(Bound::unknown)), "");
  Observation uncounted = bound_by(Bound::shared_memory);
  uncounted.counters.reset();
  EXPECT_EQ(bound_sentence(uncounted), "bound by shared memory");
  Observation clean = bound_by(Bound::shared_memory);
  clean.counters->shared_bank_conflicts = 0;
  EXPECT_EQ(bound_sentence(clean), "bound by shared memory: no bank conflict among its wavefronts");
  EXPECT_EQ(bound_sentence(Observation{}), "");
}

TEST(ConfigWords, NameWhatIsNotTheDefault) {
  Kernel kernel;
  kernel.id = "tiled";
  kernel.content_hash = "abc";
  kernel.knobs = {{"BLOCK_M", {{16, ""}, {32, ""}}, 32, ""}, {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}};
  kernel.options.fast_math = true;
  Experiment experiment;
  experiment.kernel = "tiled";
  experiment.kernel_hash = "abc";
  experiment.config = {{{"BLOCK_M", 32}, {"SHARED", 0}}, kernel.options};
  EXPECT_EQ(config_words(experiment, &kernel, "full"), "tiled, every knob at its default");
  experiment.config.knobs["SHARED"] = 1;
  experiment.config.options.fast_math = false;
  EXPECT_EQ(config_words(experiment, &kernel, "full"), "tiled SHARED=dynamic, fast math off");
  experiment.kernel_hash = "another text of it";  // its defaults are unknown
  EXPECT_EQ(config_words(experiment, &kernel, "SHARED=dynamic"), "tiled  SHARED=dynamic");
  EXPECT_EQ(config_words(experiment, nullptr, ""), "tiled");
}

TEST(VerdictRows, LeaveOutTheNaiveErrorWhereThereIsNone) {
  Verdict verdict;
  const auto names_naive = [&] {
    for (const FigureRow& row : verdict_rows(verdict))
      if (row.name == "of naive fp32") return true;
    return false;
  };
  EXPECT_FALSE(names_naive());
  verdict.naive_rel_frobenius = 5e-4;
  EXPECT_TRUE(names_naive());
}

}  // namespace
}  // namespace attnscope::charts
