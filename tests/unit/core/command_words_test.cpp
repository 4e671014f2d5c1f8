#include "core/command_words.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(CommandWords, OfAProblemNameWhatIsNotUsual) {
  Problem problem;
  problem.batch = 2, problem.heads = problem.kv_heads = 4, problem.seq_q = problem.seq_k = 333, problem.head_dim = 128;
  EXPECT_EQ(problem_words(problem), "B=2,H=4,S=333,D=128");
  problem.kv_heads = 2, problem.causal = Causal::bottom_right, problem.scale = 0.5;
  EXPECT_EQ(problem_words(problem), "B=2,H=4,S=333,D=128,causal=bottom_right,kv_heads=2,scale=0.5");
  problem.seq_q = 1;
  const auto again = problem_from_text(problem_words(problem));
  ASSERT_TRUE(again) << problem_words(problem);
  EXPECT_EQ(*again, problem);
}

TEST(CommandWords, RunWithWhatDiffersFromTheKernelsDefaults) {
  Kernel kernel;
  kernel.id = "tiled";
  kernel.knobs = {{"BLOCK_M", {{16, ""}, {32, ""}}, 32, ""}, {"POLICY", {{0, "cta"}, {1, "warp"}}, 0, ""}};
  Draft draft;
  draft.device = "emulated:l4";
  draft.config.knobs = {{"BLOCK_M", 32}, {"POLICY", 1}};
  EXPECT_EQ(shell_text(run_words(draft, kernel)), "attnscope run --kernel tiled --set POLICY=warp --problem " +
                                                      problem_words(draft.problem) + " --device emulated:l4");
  draft.config.knobs.clear();
  EXPECT_TRUE(setting_words(draft.config, kernel).empty());
}

TEST(CommandWords, OfAFolderAreQuotedWhereTheShellNeedsIt) {
  EXPECT_EQ(shell_text(run_words(".", "scale")), "attnscope run --kernels . --kernel scale");
  EXPECT_EQ(shell_text(run_words("o'ut dir", "scale")), "attnscope run --kernels 'o'\\''ut dir' --kernel scale");
}

}  // namespace
}  // namespace attnscope
