// The fp64 kernel that outputs are compared with on a GPU, itself compared with the CPU's reference.
#include <cmath>
#include <sstream>

#include "catalog/devices.h"
#include "device/cuda/cuda_device.h"
#include "gpu_fixture.h"

namespace attnscope::gpu_tests {
namespace {

struct Case {
  const char* problem;
  DType dtype = DType::f16;
  Layout layout = Layout::BHSD;
  int64_t kv_heads = 0;  // 0: as many as heads
  check::Accumulate accumulate = check::Accumulate::f32;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.problem << " " << to_string(c.dtype); }

std::unique_ptr<device::Device> first_gpu() {
  const auto driver = cuda_api::Driver::open();
  const auto calls = driver->calls();
  auto compiler = std::make_shared<compile::Compiler>(compile::CompilerOptions{.cache_dir = {}});
  auto devices = device::make_cuda_devices(
      {std::make_shared<const cuda_api::DriverCalls>(*calls), nullptr, compiler, source_tree() / "assets/gpu"},
      catalog::load_devices(source_tree() / "assets/devices").devices);
  return devices && !devices->empty() ? std::move(devices->front()) : nullptr;
}

class Reference : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!no_gpu().empty()) GTEST_SKIP() << no_gpu();
  }
};

TEST_P(Reference, OfTheGpuIsTheCpus) {
  const Case& c = GetParam();
  Problem problem = problem_from_text(c.problem).value();
  problem.dtype = c.dtype;
  problem.layout = c.layout;
  if (c.kv_heads > 0) problem.kv_heads = c.kv_heads;
  static const auto gpu = first_gpu();
  ASSERT_TRUE(gpu);
  auto made = check::make_inputs(problem);
  ASSERT_TRUE(made);
  const auto cpu = check::make_reference(problem, *made, c.accumulate);
  ASSERT_TRUE(cpu) << cpu.error().message;
  const auto ours = gpu->reference(problem, c.accumulate);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_TRUE((*ours)->all_rows);
  ASSERT_TRUE((*cpu)->all_rows);
  ASSERT_EQ((*ours)->rows, (*cpu)->rows);
  ASSERT_EQ((*ours)->values.size(), (*cpu)->values.size());
  double worst = 0;
  for (size_t i = 0; i < (*cpu)->values.size(); ++i)
    worst = std::max(worst, std::abs((*ours)->values[i] - (*cpu)->values[i]));
  EXPECT_LT(worst, 1e-12);  // two orders of summation and two exp() of fp64, over values up to about 50
  EXPECT_EQ((*ours)->classes.empty(), (*cpu)->classes.empty());
  // fp32 sums in two orders: the size of the rounding error is the same, its bits are not.
  EXPECT_NEAR((*ours)->naive_rel_frobenius, (*cpu)->naive_rel_frobenius, 0.02 * (*cpu)->naive_rel_frobenius);
  std::ostringstream difference;
  difference << worst;
  RecordProperty("largest_difference", difference.str());
}

INSTANTIATE_TEST_SUITE_P(
    Problems, Reference,
    testing::Values(Case{"B=1,H=2,S=333,D=64"}, Case{"B=2,H=2,S=200,D=64,causal=bottom_right"},
                    Case{"B=1,H=2,seq_q=150,seq_k=70,D=64,causal=bottom_right"},
                    Case{"B=1,H=2,seq_q=96,seq_k=130,D=128,causal=top_left"}, Case{"B=1,H=2,S=130,D=64,dist=large"},
                    Case{"B=1,H=2,S=130,D=256,dist=uniform"}, Case{"B=1,H=2,S=130,D=64,dist=constant"},
                    Case{"B=1,H=4,S=130,D=64", DType::bf16, Layout::BSHD, 2}, Case{"B=2,H=3,S=77,D=32", DType::f32},
                    Case{"B=1,H=2,S=130,D=64", DType::f16, Layout::BHSD, 0, check::Accumulate::f16}));

// A row that sees no key, and scores that overflow: classes and zeros are in the same places as on the CPU.
TEST_F(GpuTest, ReferenceOfOverflowingScoresHasTheCpusClasses) {
  Problem problem = problem_from_text("B=1,H=1,S=64,D=64,dist=large").value();
  problem.scale = 1e37;  // fp32 scores become infinite
  const auto gpu = first_gpu();
  ASSERT_TRUE(gpu);
  auto made = check::make_inputs(problem);
  ASSERT_TRUE(made);
  const auto cpu = check::make_reference(problem, *made, check::Accumulate::f32);
  const auto ours = gpu->reference(problem, check::Accumulate::f32);
  ASSERT_TRUE(cpu && ours);
  EXPECT_FALSE((*cpu)->classes.empty());
  EXPECT_EQ((*ours)->classes, (*cpu)->classes);
}

}  // namespace
}  // namespace attnscope::gpu_tests
