#include "device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "core/json.h"
#include "fake_gpu.h"

namespace attnscope::device {
namespace {

using testing::FakeGpu;
using ::testing::HasSubstr;

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

// A minimal attention's cubin, which the fake GPU does not look into, and a problem whose tensors are a few KB.
class CudaDeviceTest : public ::testing::Test {
 protected:
  CudaDeviceTest() {
    std::ifstream in(kSource / "tests/data/emulator/minimal_sm89.cubin", std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto words = std::as_bytes(std::span(bytes));
    variant_.cubin.assign(words.begin(), words.end());
    variant_.entry_symbol = "attention_minimal";
    problem_.heads = problem_.kv_heads = 1;
    problem_.seq_q = problem_.seq_k = 16;
    inputs_ = std::make_shared<const check::AttentionInputs>(*check::make_inputs(problem_));
  }

  std::unique_ptr<Device> device() {
    DeviceSpec twin;
    twin.id = "emulated:l4";
    twin.arch = 89;
    twin.sms = 58;
    twin.tensor_tflops_f16 = 121;
    twin.rates = {{"issue", 4}};
    twin.sources = {{"rates/issue", "a white paper"}, {"tensor_tflops_f16", "a data sheet"}};
    auto devices =
        make_cuda_devices({gpu_.calls(), nullptr, std::make_shared<compile::Compiler>(compile::CompilerOptions{}),
                           kSource / "assets/gpu"},
                          {twin});
    if (!devices || devices->empty()) return nullptr;
    return std::move(devices->front());
  }
  LaunchRequest request(Device& on) {
    LaunchRequest request;
    request.name = "minimal THREADS=128";
    request.loaded = on.load(variant_).value();
    request.problem = problem_;
    request.args = {"q", "k", "v", "o", "scale", "batch", "heads", "seq_q", "seq_k"};
    request.shape = {{16, 1, 1}, {128, 1, 1}};
    request.inputs = inputs_;
    return request;
  }
  // The tensors of a launch, out of its parameter block.
  static std::byte* tensor(const std::byte* parameters, int which) {
    uint64_t at = 0;
    std::memcpy(&at, parameters + 8 * which, 8);
    return reinterpret_cast<std::byte*>(at);
  }

  FakeGpu gpu_;
  compile::Variant variant_;
  Problem problem_;
  std::shared_ptr<const check::AttentionInputs> inputs_;
};

TEST_F(CudaDeviceTest, TheSpecIsTheDriversWithItsSources) {
  const auto one = device();
  ASSERT_TRUE(one);
  const DeviceSpec& spec = one->spec();
  EXPECT_EQ(spec.id, "cuda:0");
  EXPECT_EQ(spec.name, "Fake L4");
  EXPECT_FALSE(spec.emulated);
  EXPECT_EQ(spec.arch, 89);
  EXPECT_EQ(spec.sms, 58);
  EXPECT_EQ(spec.shared_optin_block, 101376);
  EXPECT_EQ(spec.warps_sm, 48);
  EXPECT_EQ(spec.clock_mhz, 2040);
  EXPECT_EQ(spec.l2_mb, 48);
  EXPECT_NEAR(spec.dram_gbs, 300, 0.1);
  EXPECT_THAT(spec.sources.at("shared_sm"), HasSubstr("cuDeviceGetAttribute(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)"));
  EXPECT_EQ(spec.rates.at("issue"), 4);
  EXPECT_THAT(spec.sources.at("rates/issue"), HasSubstr("emulated:l4"));
  EXPECT_EQ(spec.tensor_tflops_f16, 121);
  const auto back = device_spec_from_json(to_json(spec), "spec");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, spec);
}

TEST_F(CudaDeviceTest, SeveralGpusEachHaveTheirName) {
  gpu_.gpus = 3;
  const auto devices = make_cuda_devices({gpu_.calls(), nullptr, nullptr, {}}, {});
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 3u);
  EXPECT_EQ(devices->back()->spec().id, "cuda:2");
}

TEST_F(CudaDeviceTest, TheOutputIsPoisonWhereNothingWasStored) {
  gpu_.kernel = [](std::byte* parameters) {
    std::memset(tensor(parameters, 3), 0, 10);
    return 0;
  };
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(check::count_poison(DType::f16, outcome->output->data()), 16 * 64 - 5);
  EXPECT_FALSE(outcome->counters);
  EXPECT_FALSE(outcome->emulated);
  const auto again = one->run(request(*one), {});
  ASSERT_TRUE(again);
  EXPECT_EQ(check::count_poison(DType::f16, again->output->data()), 16 * 64 - 5)
      << "the second run's output was renewed";
}

TEST_F(CudaDeviceTest, TheKernelSeesTheInputs) {
  bool same = false;
  gpu_.kernel = [&](std::byte* parameters) {
    same = std::memcmp(tensor(parameters, 0), inputs_->q.data(), inputs_->q.size()) == 0 &&
           std::memcmp(tensor(parameters, 2), inputs_->v.data(), inputs_->v.size()) == 0;
    return 0;
  };
  const auto one = device();
  ASSERT_TRUE(one->run(request(*one), {}));
  EXPECT_TRUE(same);
}

TEST_F(CudaDeviceTest, AStoreBesideTheOutputIsNamed) {
  gpu_.kernel = [](std::byte* parameters) {
    tensor(parameters, 3)[16 * 64 * 2] = std::byte{1};
    return 0;
  };
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::launch);
  EXPECT_THAT(outcome.error().message, HasSubstr("o"));
}

TEST_F(CudaDeviceTest, AnInputThatWasWrittenIsNamedAndTheNextRunHasItWhole) {
  gpu_.kernel = [](std::byte* parameters) {
    tensor(parameters, 1)[5] ^= std::byte{0xff};
    return 0;
  };
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::launch);
  EXPECT_THAT(outcome.error().message, HasSubstr("k"));
  gpu_.kernel = [&](std::byte* parameters) {
    return std::memcmp(tensor(parameters, 1), inputs_->k.data(), inputs_->k.size()) == 0 ? 0 : 1;
  };
  EXPECT_TRUE(one->run(request(*one), {}));
}

TEST_F(CudaDeviceTest, AnIllegalAddressNamesKernelConfigAndErrorAndLosesTheDevice) {
  gpu_.kernel = [](std::byte*) { return 700; };
  const auto one = device();
  EXPECT_FALSE(one->lost());
  const auto outcome = one->run(request(*one), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::launch);
  EXPECT_EQ(outcome.error().message, "minimal THREADS=128 on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_TRUE(one->lost());
}

TEST_F(CudaDeviceTest, ARefusedLaunchLosesNothing) {
  gpu_.kernel = [](std::byte*) { return 701; };
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_FALSE(one->lost());
}

TEST_F(CudaDeviceTest, TooLittleMemoryIsALimitInWords) {
  gpu_.memory_limit = 4000;
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::limits);
  EXPECT_THAT(outcome.error().message, HasSubstr("cuda:0"));
  EXPECT_EQ(gpu_.allocated, 0u);
}

TEST_F(CudaDeviceTest, DynamicSharedMemoryIsOptedIn) {
  const auto one = device();
  LaunchRequest wanted = request(*one);
  wanted.dynamic_shared = 57376;
  ASSERT_TRUE(one->run(wanted, {}));
  EXPECT_EQ(gpu_.opted_in, 57376);
}

TEST_F(CudaDeviceTest, HotIsAGraphOfAtLeastAMillisecondOfKernels) {
  const auto one = device();
  int told = 0;
  auto timer = one->timer(request(*one), "hot", [&] { ++told; });
  ASSERT_TRUE(timer && *timer);
  ASSERT_TRUE((*timer)->begin_round());
  EXPECT_GT(told, 0) << "the supervisor hears of every launch that ended";
  const int before = gpu_.launches;
  const auto us = (*timer)->take();
  ASSERT_TRUE(us) << us.error().message;
  ASSERT_EQ(us->size(), 1u);
  EXPECT_NEAR(us->front(), 30, 1e-3);
  EXPECT_GE(gpu_.launches - before, 34);
  EXPECT_LE(gpu_.launches - before, 40);
  EXPECT_FALSE((*timer)->empty_us());
}

TEST_F(CudaDeviceTest, RoundsPlaceTheBuffersElsewhereAndLeaveNothingBehind) {
  const auto one = device();
  {
    auto timer = one->timer(request(*one), "hot", {});
    ASSERT_TRUE(timer && *timer);
    std::vector<uint64_t> places;
    for (int round = 0; round < 4; ++round) {
      ASSERT_TRUE((*timer)->begin_round());
      ASSERT_TRUE((*timer)->take());
      places.push_back(gpu_.outputs.back());
    }
    for (size_t i = 1; i < places.size(); ++i) EXPECT_NE(places[i], places[i - 1]);
  }
  EXPECT_EQ(gpu_.graphs, 0);
  EXPECT_EQ(gpu_.modules, 0) << "no kernel is loaded any more";
  EXPECT_EQ(gpu_.allocated, 0u);
}

TEST_F(CudaDeviceTest, ColdFlushesBeforeEachAndTimesAnEmptyKernelBeside) {
  const auto one = device();
  auto timer = one->timer(request(*one), "cold", {});
  ASSERT_TRUE(timer) << timer.error().message;
  ASSERT_TRUE((*timer)->begin_round());
  const auto us = (*timer)->take();
  ASSERT_TRUE(us);
  EXPECT_GT(us->size(), 10u);
  for (const double one_us : *us) EXPECT_NEAR(one_us, 30, 1e-3) << "the flush is not in it";
  ASSERT_TRUE((*timer)->empty_us());
  EXPECT_NEAR(*(*timer)->empty_us(), 2, 1e-3);
}

TEST_F(CudaDeviceTest, AKernelThatFaultsWhileItIsTimedIsAFailure) {
  const auto one = device();
  auto timer = one->timer(request(*one), "hot", {});
  ASSERT_TRUE(timer);
  gpu_.kernel = [](std::byte*) { return 700; };
  const auto ready = (*timer)->begin_round();
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(one->lost());
}

}  // namespace
}  // namespace attnscope::device
