// The cuBLAS routines as a device runs them, with a fake driver and a fake library whose products are plain loops over
// column-major matrices: a wrong leading dimension, stride or order gives a wrong output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "check/known_reference.h"
#include "check/verdict.h"
#include "device/cuda/cuda_device.h"
#include "fake_gpu.h"

namespace attnscope::device {
namespace {

using testing::FakeGpu;
using ::testing::HasSubstr;

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

struct FakeCublas {
  int status = 0;       // of the next products
  std::string refused;  // the call that is refused
  int version_told = 130000;
  int products = 0, handles = 0;
  size_t workspace = 0;
};
FakeCublas cublas;

int answer_of(const char* call) { return cublas.refused == call ? 7 : 0; }

double element(const void* matrix, int type, long long index) {
  const ElementType element_type = type == cuda_api::kCublasF16 ? ElementType::f16 : ElementType::f32;
  return check::load_value(element_type, static_cast<const std::byte*>(matrix), index);
}

int product(cuda_api::CublasHandle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
            int type_a, int lda, long long stride_a, const void* b, int type_b, int ldb, long long stride_b,
            const void* beta, void* c, int type_c, int ldc, long long stride_c, int batch, int compute_type, int) {
  ++cublas.products;
  if (cublas.status != 0) return cublas.status;
  // The library's checks of a caller's arguments: 7 is CUBLAS_STATUS_INVALID_VALUE.
  const bool fits = lda >= (op_a ? k : m) && ldb >= (op_b ? n : k) && ldc >= m;
  if (!fits || compute_type != cuda_api::kCublasComputeF32 || *static_cast<const float*>(beta) != 0) return 7;
  const ElementType type = type_c == cuda_api::kCublasF16 ? ElementType::f16 : ElementType::f32;
  for (int matrix = 0; matrix < batch; ++matrix)
    for (int column = 0; column < n; ++column)
      for (int row = 0; row < m; ++row) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += element(a, type_a, matrix * stride_a + (op_a ? i + 1LL * row * lda : row + 1LL * i * lda)) *
                 element(b, type_b, matrix * stride_b + (op_b ? column + 1LL * i * ldb : i + 1LL * column * ldb));
        check::store_value(type, static_cast<std::byte*>(c), matrix * stride_c + row + 1LL * column * ldc,
                           sum * double(*static_cast<const float*>(alpha)));
      }
  return 0;
}

Result<cuda_api::CublasCalls> fake_cublas() {
  cuda_api::CublasCalls calls;
  calls.create = [](cuda_api::CublasHandle* handle) {
    if (const int refused = answer_of("create")) return refused;
    ++cublas.handles;
    *handle = reinterpret_cast<cuda_api::CublasHandle>(&cublas);
    return 0;
  };
  calls.destroy = [](cuda_api::CublasHandle) { return --cublas.handles, 0; };
  calls.version = [](cuda_api::CublasHandle, int* version) {
    return *version = cublas.version_told, answer_of("version");
  };
  calls.set_stream = [](cuda_api::CublasHandle, cuda_api::Stream) { return answer_of("set_stream"); };
  calls.set_workspace = [](cuda_api::CublasHandle, void*, size_t bytes) {
    return cublas.workspace = bytes, answer_of("set_workspace");
  };
  calls.gemm = product;
  calls.status_text = [](int status) { return status == 7 ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_OTHER"; };
  return calls;
}

class CublasRoutine : public ::testing::Test {
 protected:
  CublasRoutine() {
    cublas = {};
    auto devices =
        make_cuda_devices({gpu_.calls(), nullptr, std::make_shared<compile::Compiler>(compile::CompilerOptions{}),
                           kSource / "assets/gpu", fake_cublas},
                          {});
    device_ = std::move(devices.value().front());
  }

  LaunchRequest attention(const Problem& problem, const char* routine = "attention") {
    LaunchRequest request;
    request.name = "cublas_attention";
    request.loaded = device_->load_routine(LibraryId::cublas, routine, problem).value();
    EXPECT_EQ(request.loaded->library_version(), "13.0.0");
    request.problem = problem;
    request.shape = {{1, 1, 1}, {32, 1, 1}};
    request.inputs = std::make_shared<const check::AttentionInputs>(*check::make_inputs(problem));
    return request;
  }

  FakeGpu gpu_;
  std::unique_ptr<Device> device_;
};

// Several heads; the lengths differ and share no multiples.
Problem uneven(Causal causal) {
  Problem problem;
  problem.batch = 2;
  problem.heads = problem.kv_heads = 3;
  problem.seq_q = 19;
  problem.seq_k = 13;
  problem.head_dim = 32;
  problem.causal = causal;
  return problem;
}

TEST_F(CublasRoutine, AttentionIsRight) {
  EXPECT_THAT(device_->spec().runs, ::testing::ElementsAre(LibraryId::source, LibraryId::cublas));
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
    const Problem problem = uneven(causal);
    const LaunchRequest request = attention(problem);
    auto outcome = device_->run(request, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    auto reference = check::make_reference(problem, *request.inputs, check::Accumulate::f32);
    ASSERT_TRUE(reference) << reference.error().message;
    auto verdict = check::judge(outcome->output->data(), **reference);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->state, VerdictState::correct) << to_string(causal) << ": " << verdict->reason;
  }
  EXPECT_EQ(cublas.products, 6);
  EXPECT_GE(cublas.workspace, 4u << 20);
}

// One product; a kernel of our own does the rest.
TEST_F(CublasRoutine, TheHybridIsRight) {
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
    const Problem problem = uneven(causal);
    const LaunchRequest request = attention(problem, "hybrid");
    const auto outcome = device_->run(request, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto reference = check::make_reference(problem, *request.inputs, check::Accumulate::f32);
    const auto verdict = check::judge(outcome->output->data(), **reference);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->state, VerdictState::correct) << to_string(causal) << ": " << verdict->reason;
  }
  EXPECT_EQ(cublas.products, 3);
}

TEST_F(CublasRoutine, ARefusedStartNamesItsCallAndLeavesNoHandle) {
  const std::pair<const char*, const char*> kCalls[] = {
      {"create", "cublasCreate"}, {"set_stream", "cublasSetStream"}, {"set_workspace", "cublasSetWorkspace"}};
  for (const auto& [call, name] : kCalls) {
    cublas.refused = call;
    const auto loaded = device_->load_routine(LibraryId::cublas, "attention", Problem{});
    ASSERT_FALSE(loaded) << call;
    EXPECT_EQ(loaded.error().stage, Stage::launch);
    EXPECT_EQ(loaded.error().message, std::string(name) + " failed: CUBLAS_STATUS_INVALID_VALUE.");
    EXPECT_EQ(cublas.handles, 0) << call;
    EXPECT_EQ(gpu_.allocated, 0u) << call;
  }
}

TEST_F(CublasRoutine, ItsVersionIsUnpacked) {
  const auto version = [&] {
    return device_->load_routine(LibraryId::cublas, "attention", Problem{}).value()->library_version();
  };
  EXPECT_EQ(version(), "13.0.0");
  cublas.version_told = 120803;
  EXPECT_EQ(version(), "12.8.3");
  for (const int none : {0, -1}) {
    cublas.version_told = none;
    EXPECT_EQ(version(), "") << none;
  }
  cublas.version_told = 1;
  EXPECT_EQ(version(), "0.0.1");
  cublas.refused = "version";
  EXPECT_EQ(version(), "");
}

TEST_F(CublasRoutine, ItIsTimedAsAKernelIs) {
  Problem problem;
  problem.heads = problem.kv_heads = 1;
  problem.seq_q = problem.seq_k = 16;
  const LaunchRequest request = attention(problem);
  auto timer = device_->timer(request, CacheState::hot, {});
  ASSERT_TRUE(timer) << timer.error().message;
  ASSERT_TRUE((*timer)->begin_round());
  auto times = (*timer)->take();
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_NEAR(times->front(), gpu_.kernel_us, 1e-3);  // the products take no time on the fake's clock
}

// c = a bᵀ, twice.
Workload a_gemm() {
  Workload workload;
  for (const char* name : {"a", "b", "c"})
    workload.operands.push_back({name,
                                 *name == 'c' ? BufferRole::out : BufferRole::in,
                                 ElementType::f16,
                                 {2, *name == 'b' ? 8 : 24, *name == 'c' ? 8 : 16},
                                 {}});
  workload.references.push_back({ReferenceKind::gemm_nt, {"a", "b"}, "c", "", 0, {}, {}, {}});
  return workload;
}

LaunchRequest tile(Device& device, const Workload& workload) {
  Problem problem;
  problem.kind = ProblemKind::gemm;
  LaunchRequest request;
  request.name = "cublas_tile";
  request.loaded = device.load_routine(LibraryId::cublas, "gemm_nt", problem).value();
  request.problem = problem;
  request.shape = {{1, 1, 1}, {32, 1, 1}};
  request.operands = check::make_operands(workload, problem).value();
  return request;
}

TEST_F(CublasRoutine, TheTileIsRight) {
  const Workload workload = a_gemm();
  const LaunchRequest request = tile(*device_, workload);
  auto outcome = device_->run(request, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  auto verdict = check::judge(workload, *request.operands, outcome->outputs, false);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->state, VerdictState::correct) << verdict->reason;
}

TEST_F(CublasRoutine, BuffersThatAreNoProductAreRefused) {
  const auto refusal = [&](const std::function<void(Workload&)>& change) {
    Workload workload = a_gemm();
    workload.references.clear();
    change(workload);
    const auto outcome = device_->run(tile(*device_, workload), {});
    return outcome ? "" : outcome.error().message;
  };
  EXPECT_EQ(refusal([](Workload&) {}), "");
  EXPECT_EQ(refusal([](Workload& w) { w.operands.push_back(w.operands[0]); }),
            "cublas_tile: gemm_nt takes three buffers, a, b and c");
  for (const size_t which : {0, 1, 2})
    EXPECT_EQ(refusal([&](Workload& w) { w.operands[which].type = ElementType::f32; }),
              "cublas_tile: gemm_nt takes matrices of f16")
        << which;
  EXPECT_EQ(refusal([](Workload& w) { w.operands[1].shape = {8}; }), "cublas_tile: gemm_nt takes matrices of f16");
  // b[N,K], c[M,N]: each other extent of a matrix.
  for (const auto& [which, axis] : {std::pair<size_t, size_t>{1, 2}, {2, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 1}})
    EXPECT_EQ(refusal([&](Workload& w) { ++w.operands[which].shape[axis]; }),
              "cublas_tile: gemm_nt needs a[…,M,K], b[…,N,K], c[…,M,N]")
        << which << " " << axis;
}

TEST_F(CublasRoutine, WhatTheLibraryRefusesIsAFailureInItsWords) {
  for (const LaunchRequest& request : {attention(Problem{}), tile(*device_, a_gemm())}) {
    cublas.status = 7;
    auto outcome = device_->run(request, {});
    ASSERT_FALSE(outcome) << request.name;
    EXPECT_EQ(outcome.error().stage, Stage::launch);
    EXPECT_THAT(outcome.error().message, HasSubstr("CUBLAS_STATUS_INVALID_VALUE"));
    EXPECT_THAT(outcome.error().message, HasSubstr(request.name));
  }
}

TEST_F(CublasRoutine, UnknownRoutinesAndLibrariesAreRefused) {
  EXPECT_FALSE(device_->load_routine(LibraryId::cublas, "no_such_routine", Problem{}));
  EXPECT_FALSE(device_->load_routine(LibraryId::torch, "attention", Problem{}));
  Problem gemm;
  gemm.kind = ProblemKind::gemm;
  EXPECT_FALSE(device_->load_routine(LibraryId::cublas, "attention", gemm));
}

}  // namespace
}  // namespace attnscope::device
