#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "check/float_formats.h"
#include "check/verdict.h"
#include "core/json.h"
#include "cuda_device_test.h"

namespace attnscope::device {
namespace {

using testing::CudaDeviceTest;
using ::testing::HasSubstr;

TEST_F(CudaDeviceTest, TheSpecIsTheDriversWithItsSources) {
  const auto one = device();
  ASSERT_TRUE(one);
  const DeviceSpec& spec = one->spec();
  EXPECT_EQ(spec.id, "cuda:0");
  EXPECT_EQ(spec.name, "Fake L4");
  EXPECT_FALSE(spec.emulated);
  EXPECT_EQ(spec.arch, 89);
  EXPECT_EQ(spec.sms, 58);
  EXPECT_EQ(spec.shared_static_block, 49152);
  EXPECT_EQ(spec.shared_optin_block, 101376);
  EXPECT_EQ(spec.shared_sm, 102400);
  EXPECT_EQ(spec.shared_reserved_block, 1024);
  EXPECT_EQ(spec.warps_sm, 48);
  EXPECT_EQ(spec.ctas_sm, 24);
  EXPECT_EQ(spec.registers_sm, 65536);
  EXPECT_EQ(spec.registers_block, 65536);
  EXPECT_EQ(spec.threads_block, 1024);
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

TEST_F(CudaDeviceTest, ATwinWithOtherSmsLendsItsRatesAndNotItsTensorFlops) {
  DeviceSpec twin = CudaDeviceTest::twin();
  twin.id = "emulated:other";
  twin.sms = 57;
  const auto spec = [&] {
    const auto devices = make_cuda_devices({gpu_.calls(), nullptr, nullptr, {}}, {twin});
    return devices ? devices->front()->spec() : DeviceSpec{};
  };
  EXPECT_EQ(spec().rates.at("issue"), 4);
  EXPECT_EQ(spec().tensor_tflops_f16, 0);
  EXPECT_FALSE(spec().sources.contains("tensor_tflops_f16"));
  twin.sms = 58;
  EXPECT_EQ(spec().tensor_tflops_f16, 121);
  EXPECT_EQ(spec().sources.at("tensor_tflops_f16"), "as emulated:other: a data sheet");
  twin.sources.erase("tensor_tflops_f16");
  EXPECT_EQ(spec().sources.at("tensor_tflops_f16"), "as emulated:other");
  twin.arch = 90;
  EXPECT_TRUE(spec().rates.empty()) << "it has other SMs";
}

TEST_F(CudaDeviceTest, ADriverThatGivesNoGpuSaysWhy) {
  const auto refusal = [&](const char* call, int after = 0) {
    gpu_.refused = call;
    gpu_.refused_after = after;
    const auto devices = make_cuda_devices({gpu_.calls(), nullptr, nullptr, {}}, {});
    EXPECT_FALSE(devices) << call << " after " << after;
    if (devices) return std::string();
    EXPECT_EQ(devices.error().stage, Stage::device);
    return devices.error().message;
  };
  for (const char* call : {"init", "device_count"})
    EXPECT_EQ(refusal(call), "The NVIDIA driver gives no GPU: CUDA_ERROR.");
  for (const char* call : {"device_get", "device_name"}) EXPECT_EQ(refusal(call), "cuda:0 does not answer.");
  const char* const kAttributes[] = {"COMPUTE_CAPABILITY_MAJOR, _MINOR",
                                     "COMPUTE_CAPABILITY_MINOR",
                                     "MULTIPROCESSOR_COUNT",
                                     "MAX_SHARED_MEMORY_PER_BLOCK",
                                     "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
                                     "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
                                     "RESERVED_SHARED_MEMORY_PER_BLOCK",
                                     "MAX_THREADS_PER_MULTIPROCESSOR",
                                     "MAX_BLOCKS_PER_MULTIPROCESSOR",
                                     "MAX_REGISTERS_PER_MULTIPROCESSOR",
                                     "MAX_REGISTERS_PER_BLOCK",
                                     "MAX_THREADS_PER_BLOCK",
                                     "CLOCK_RATE",
                                     "L2_CACHE_SIZE",
                                     "MEMORY_CLOCK_RATE, GLOBAL_MEMORY_BUS_WIDTH",
                                     "GLOBAL_MEMORY_BUS_WIDTH"};
  std::vector<std::string> refused;
  for (int after = 0; after < static_cast<int>(std::size(kAttributes)); ++after)
    refused.push_back(refusal("device_attribute", after));
  for (const char* attribute : kAttributes)
    EXPECT_THAT(refused,
                ::testing::Contains(std::string("cuDeviceGetAttribute(") + attribute + ") failed with CUDA_ERROR."));
}

TEST_F(CudaDeviceTest, ARunSaysThatItBeganAndThatItIsDone) {
  const auto one = device();
  std::vector<std::pair<int64_t, int64_t>> told;
  LaunchEvents events;
  events.on_progress = [&](int64_t done, int64_t total) { told.emplace_back(done, total); };
  ASSERT_TRUE(one->run(request(*one), events));
  EXPECT_EQ(gpu_.shape.grid, request(*one).shape.grid);
  EXPECT_EQ(gpu_.shape.block, request(*one).shape.block);
  EXPECT_THAT(told, ::testing::ElementsAre(std::pair<int64_t, int64_t>(0, 16), std::pair<int64_t, int64_t>(16, 16)));
  told.clear();
  gpu_.kernel = [](std::byte*) { return 701; };
  ASSERT_FALSE(one->run(request(*one), events));
  EXPECT_EQ(told.size(), 1u) << "a run that failed is not done";
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

TEST_F(CudaDeviceTest, ACooperativeLaunchIsOneForTheDriver) {
  const auto one = device();
  LaunchRequest wanted = request(*one);
  ASSERT_TRUE(one->run(wanted, {}));
  EXPECT_FALSE(gpu_.shape.cooperative);
  wanted.shape.cooperative = true;
  ASSERT_TRUE(one->run(wanted, {}));
  EXPECT_TRUE(gpu_.shape.cooperative);
}

// Everything together: inputs, kernel, reference and verdict, all by kernels on the fake GPU's memory.
TEST_F(CudaDeviceTest, AProblemIsFedRunAndJudgedOnTheDevice) {
  gpu_.kernel = nullptr;
  const auto one = device();
  EXPECT_TRUE(one->makes_inputs());
  problem_.causal = Causal::bottom_right;  // as the cubin was compiled, for 64 threads
  LaunchRequest wanted = request(*one);
  wanted.shape.block = {64, 1, 1};
  wanted.dynamic_shared = 4 * problem_.seq_k;
  wanted.inputs = nullptr;
  const auto outcome = one->run(wanted, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto reference = one->reference(problem_, check::Accumulate::f32);
  ASSERT_TRUE(reference && *reference) << reference.error().message;
  const auto cpu = check::make_reference(problem_, *inputs_, check::Accumulate::f32);
  ASSERT_TRUE(cpu);
  for (size_t i = 0; i < (*cpu)->values.size(); ++i) EXPECT_NEAR((*reference)->values[i], (*cpu)->values[i], 1e-12);
  EXPECT_NEAR((*reference)->naive_rel_frobenius, (*cpu)->naive_rel_frobenius, 1e-9);
  const auto compared = one->compare(*outcome, *reference);
  ASSERT_TRUE(compared && *compared);
  const Verdict verdict = check::conclude(**compared, **reference);
  EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
  EXPECT_EQ(verdict.rows_checked, 16);
  ASSERT_TRUE(one->run(wanted, {}));
  const auto late = one->compare(*outcome, *reference);
  EXPECT_TRUE(late && !*late) << "the device has a newer output";
}

struct InputsCase {
  DType dtype;
  Layout layout;
  Distribution distribution;
};
void PrintTo(const InputsCase& c, std::ostream* out) {
  *out << to_string(c.dtype) << to_string(c.layout) << to_string(c.distribution);
}

class InputsOnTheDevice : public CudaDeviceTest, public ::testing::WithParamInterface<InputsCase> {};

TEST_P(InputsOnTheDevice, AreTheCpusToTheBit) {
  problem_.dtype = GetParam().dtype;
  problem_.layout = GetParam().layout;
  problem_.distribution = GetParam().distribution;
  problem_.batch = 2;
  problem_.heads = 4;
  problem_.kv_heads = 2;
  problem_.seq_k = 37;
  problem_.seed = (uint64_t{7} << 32) + 5;
  const auto cpu = check::make_inputs(problem_);
  ASSERT_TRUE(cpu);
  std::array<bool, 3> same{};
  gpu_.kernel = [&](std::byte* parameters) {
    const std::vector<std::byte>* tensors[] = {&cpu->q, &cpu->k, &cpu->v};
    for (int i = 0; i < 3; ++i)
      same[static_cast<size_t>(i)] = std::memcmp(tensor(parameters, i), tensors[i]->data(), tensors[i]->size()) == 0;
    return 0;
  };
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(same, ::testing::Each(true));
}

INSTANTIATE_TEST_SUITE_P(Spread, InputsOnTheDevice,
                         ::testing::Values(InputsCase{DType::f16, Layout::BHSD, Distribution::normal},
                                           InputsCase{DType::bf16, Layout::BSHD, Distribution::normal},
                                           InputsCase{DType::f32, Layout::BSHD, Distribution::large},
                                           InputsCase{DType::f16, Layout::BSHD, Distribution::uniform},
                                           InputsCase{DType::f16, Layout::BHSD, Distribution::constant}));

// One fault each in a correct output: figures and reported elements equal the CPU's.
class JudgedOnTheDevice : public CudaDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(JudgedOnTheDevice, FindsWhatTheCpuFinds) {
  const std::string fault = GetParam();
  problem_.heads = problem_.kv_heads = 2;
  problem_.seq_q = 24;  // and 16 keys: bottom_right masks all of the first eight rows
  problem_.causal = Causal::bottom_right;
  problem_.layout = fault == "layout" ? Layout::BSHD : Layout::BHSD;
  const auto inputs = check::make_inputs(problem_);
  const auto reference = check::make_reference(problem_, *inputs, check::Accumulate::f32);
  ASSERT_TRUE(reference);
  gpu_.kernel = [&](std::byte* parameters) {
    auto* o = reinterpret_cast<uint16_t*>(tensor(parameters, 3));
    for (int64_t i = 0; i < problem_.q_elements(); ++i) {
      const int64_t d = i % 64, row = i / 64, h = row / 24, s = row % 24;
      o[check::element_offset(problem_, 2, 24, 0, h, s, d)] =
          check::f16_from_float(static_cast<float>((*reference)->values[static_cast<size_t>(i)]));
    }
    if (fault == "never written") o[1000] = o[2000] = check::kPoison16F;
    if (fault == "NaN") o[777] = 0x7e00;
    if (fault == "infinite") o[1999] = 0xfc00;
    if (fault == "masked row") o[130] = 1;
    if (fault == "outside") o[1500] ^= 0x0400, o[1501] ^= 0x8000;
    return 0;
  };
  const auto one = device();
  const auto outcome = one->run(request(*one), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto ours = one->compare(*outcome, *reference);
  ASSERT_TRUE(ours && *ours);
  const Verdict got = check::conclude(**ours, **reference);
  const Verdict want = *check::judge(outcome->output->data(), **reference);
  EXPECT_EQ(got.state, want.state);
  EXPECT_EQ(got.state, fault == "none" || fault == "layout" ? VerdictState::correct : VerdictState::wrong);
  EXPECT_EQ(got.reason, want.reason);
  EXPECT_EQ(got.nonfinite, want.nonfinite);
  EXPECT_EQ(got.max_abs, want.max_abs);
  EXPECT_EQ(got.outside_share, want.outside_share);
  EXPECT_NEAR(got.mean_abs, want.mean_abs, 1e-12 * want.mean_abs);
  EXPECT_NEAR(got.rel_frobenius, want.rel_frobenius, 1e-9 * want.rel_frobenius);
  EXPECT_NEAR(got.cosine, want.cosine, 1e-12);
  EXPECT_EQ((*ours)->worst.row, check::compare(outcome->output->data(), **reference, false).worst.row);
}

INSTANTIATE_TEST_SUITE_P(Faults, JudgedOnTheDevice,
                         ::testing::Values("none", "layout", "never written", "NaN", "infinite", "masked row",
                                           "outside"));

}  // namespace
}  // namespace attnscope::device
