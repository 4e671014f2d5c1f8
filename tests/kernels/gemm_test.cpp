// The rungs written with CUTLASS' GEMMs: only the scores. Their sizeof says how much shared memory they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/choices.h"
#include "check/known_reference.h"
#include "model/limits.h"
#include "workload_run.h"

namespace attnscope::kernel_tests {
namespace {

using testing::HasSubstr;

struct Gemm {
  std::string file;                           // "08_gemm_tensorop.json"
  std::map<std::string, int64_t> knobs = {};  // knobs with another value than the default
  int arch = 89;
  std::vector<int64_t> shape = {2, 96, 136};  // B, M, N
};

Result<Compiled> make(const Gemm& gemm) {
  auto kernel = catalog::load_kernel(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "kernels" / gemm.file);
  if (!kernel) return fail(kernel.error());
  return compile_workload(*kernel, {{"B", gemm.shape[0]}, {"M", gemm.shape[1]}, {"N", gemm.shape[2]}}, gemm.knobs,
                          gemm.arch);
}

Result<Verdict> run(const Gemm& gemm) {
  auto made = make(gemm);
  if (!made) return fail(made.error());
  auto ran = emulate(*made, gemm.arch);
  if (!ran) return fail(ran.error());
  return check::judge(ran->workload, *ran->operands, ran->outcome.outputs, ran->outcome.partial);
}

constexpr const char* kSimt = "07_gemm_simt.json";
constexpr const char* kTensor = "08_gemm_tensorop.json";

class GemmRungs : public testing::TestWithParam<Gemm> {};

TEST_P(GemmRungs, AreRight) {
  auto verdict = run(GetParam());
  ASSERT_TRUE(verdict) << verdict.error().message << "\n" << verdict.error().hint;
  EXPECT_EQ(verdict->state, VerdictState::correct) << verdict->reason;
  EXPECT_GT(verdict->rel_frobenius, 0);  // S is rounded to halves
}

std::vector<Gemm> spread() {
  const std::map<std::string, int64_t> report{{"BLOCK_M", 32}, {"BLOCK_N", 32}, {"BLOCK_K", 64}},
      flat{{"BLOCK_M", 32}, {"BLOCK_N", 256}, {"BLOCK_K", 64}, {"STAGES", 4}},
      odd{{"BLOCK_M", 64}, {"BLOCK_N", 64}, {"STAGES", 2}, {"STORE_WIDTH", 1}};
  const std::vector<Gemm> all{{kTensor},
                              {kTensor, {}, 80},
                              {kTensor, {}, 90},
                              {kTensor, report},
                              {kTensor, flat, 80},
                              {kTensor, odd, 90, {1, 333, 333}},
                              {kTensor, odd, 89, {3, 1, 1}},
                              {kSimt},
                              {kSimt, {}, 80},
                              {kSimt, {}, 90, {1, 333, 333}},
                              {kSimt, {{"BLOCK_M", 128}, {"BLOCK_N", 128}}, 89, {1, 17, 1}},
                              {kSimt, {{"BLOCK_M", 16}, {"BLOCK_N", 32}}, 89, {1, 65, 33}}};
  std::vector<Gemm> strided;
  for (size_t i = 0; i < all.size(); i += ATTNSCOPE_CASE_STRIDE) strided.push_back(all[i]);
  return strided;
}

INSTANTIATE_TEST_SUITE_P(Spread, GemmRungs, testing::ValuesIn(spread()), [](const auto& one) {
  return std::to_string(one.index) + "_sm_" + std::to_string(one.param.arch);
});

// The reports' "Error Internal": CUTLASS' default for Sm80, on an L4.
TEST(GemmTensorop, TheDefaultTileIsRefusedWithTheCompilersOwnFigure) {
  const Gemm cutlass_default{kTensor, {{"BLOCK_N", 256}, {"BLOCK_K", 64}}};
  auto made = make(cutlass_default);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->launch.dynamic_shared, 147456);
  VariantInfo info = made->variant->info;
  info.dynamic_shared_bytes = made->launch.dynamic_shared;
  auto refused = model::check_limits(emulated_spec(89), info, made->launch.shape, "gemm_tensorop");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::limits);
  EXPECT_THAT(refused.error().message, HasSubstr("147,456 B"));
  EXPECT_THAT(refused.error().message, HasSubstr("101,376"));
  EXPECT_TRUE(model::check_limits(emulated_spec(90), info, made->launch.shape, "gemm_tensorop"));
  // Predicted while the knob moves, with a config that fits.
  auto foretold = catalog::foretell_limits(made->kernel, made->problem, made->config, emulated_spec(89));
  ASSERT_FALSE(foretold);
  EXPECT_THAT(foretold.error().message, HasSubstr("147,456 B"));
  EXPECT_EQ(foretold.error().hint, "Set BLOCK_N to 128.");
}

TEST(GemmTensorop, AConstantThatTheSourceDoesNotHaveIsNamed) {
  auto made = make({kTensor});
  ASSERT_TRUE(made) << made.error().message;
  auto lacking = compile::constants_of(*made->variant, {"no_such_constant"});
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().stage, Stage::compile);
  EXPECT_THAT(lacking.error().message, HasSubstr("no_such_constant"));
  EXPECT_THAT(lacking.error().hint, HasSubstr("__device__ const int"));
}

}  // namespace
}  // namespace attnscope::kernel_tests
