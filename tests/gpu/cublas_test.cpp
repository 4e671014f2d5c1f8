// cuBLAS' routines on a GPU: correct over lengths and masks, and timed like kernels.
#include <algorithm>

#include "cuda_api/cublas.h"
#include "gpu_fixture.h"

namespace attnscope::gpu_tests {
namespace {

class CublasOnGpu : public SessionOnGpu {
 protected:
  void SetUp() override {
    SessionOnGpu::SetUp();
    if (!IsSkipped() && !cuda_api::cublas_is_there()) GTEST_SKIP() << "There is no cuBLAS for this driver.";
  }
};

TEST_F(CublasOnGpu, BothAttentionsAreRight) {
  for (const char* problem :
       {"B=1,H=2,S=1,D=64", "B=2,H=2,S=17,D=64", "B=1,H=2,S=333,D=64", "B=1,H=8,S=512,D=64",
        "B=2,H=2,S=130,D=64,causal=bottom_right", "B=1,H=2,seq_q=96,seq_k=130,D=64,causal=top_left",
        "B=1,H=2,seq_q=150,seq_k=70,D=64,causal=bottom_right", "B=1,H=2,S=130,D=128",
        "B=1,H=2,S=130,D=64,dist=large"}) {
    for (const char* kernel : {"cublas_attention", "cublas_hybrid"}) {
      // Probabilities rounded to halves after their division miss the tolerance there, as the manifest says.
      if (std::string(problem).ends_with("large") && std::string(kernel) == "cublas_attention") continue;
      SCOPED_TRACE(std::string(kernel) + " " + problem);
      expect_measured(run(draft(kernel, {}, problem)));
    }
  }
}

TEST_F(CublasOnGpu, TheTileIsRightOnRandomInputs) {
  Draft tile = draft("cublas_tile");
  tile.problem = Problem{};
  tile.problem.kind = ProblemKind::gemm;
  tile.problem.sizes = {{"B", 1}, {"M", 32}, {"N", 32}, {"K", 64}};
  expect_measured(run(tile));
}

TEST_F(CublasOnGpu, ColdIsTimedToo) {
  Draft cold = draft("cublas_attention");
  cold.measure.cache = CacheState::cold;
  const Observation o = run(cold);
  expect_measured(o);
}

}  // namespace
}  // namespace attnscope::gpu_tests
