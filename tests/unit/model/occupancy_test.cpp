#include "model/occupancy.h"

#include <gtest/gtest.h>

#include "unit/model/devices_for_tests.h"

#ifdef ATTNSCOPE_HAS_OCCUPANCY_HEADER
#include <cuda_occupancy.h>
#endif

namespace attnscope::model {
namespace {

VariantInfo variant(int64_t registers, int64_t static_shared, int64_t dynamic_shared = 0) {
  VariantInfo v;
  v.registers = registers;
  v.static_shared_bytes = static_shared;
  v.dynamic_shared_bytes = dynamic_shared;
  return v;
}

LaunchShape launch(int64_t ctas, int64_t threads) { return {{ctas, 1, 1}, {threads, 1, 1}}; }

// The reports' rows: 36,896 B per CTA, and an L4 holds two of them.
TEST(Occupancy, TheReportsTiledRow) {
  const Occupancy o = occupancy(l4(), variant(40, 36896), launch(128, 128));
  EXPECT_EQ(o.ctas_per_sm, 2);
  EXPECT_EQ(o.limiter, Limiter::shared_memory);
  EXPECT_EQ(o.resident_ctas, 116);
  EXPECT_EQ(o.total_ctas, 128);
  EXPECT_EQ(o.tail_ctas, 12);
  EXPECT_NEAR(o.waves, 128.0 / 116, 1e-12);
  EXPECT_EQ(o.warps_per_sm, 8);
  EXPECT_NEAR(o.fraction, 8.0 / 48, 1e-12);
}

TEST(Occupancy, EightWarpsAreAThird) {
  const Occupancy o = occupancy(l4(), variant(40, 36928), launch(128, 256));
  EXPECT_EQ(o.ctas_per_sm, 2);
  EXPECT_NEAR(o.fraction, 1.0 / 3, 1e-12);
}

TEST(Occupancy, BlockM16HoldsThree) {
  // Q 2048, K and V 8192 each, S 4096, O 4096, 8 B a warp: 26,656 B.
  EXPECT_EQ(occupancy(l4(), variant(40, 26656), launch(256, 128)).ctas_per_sm, 3);
}

TEST(Occupancy, FortyKilobytesAreTwoNotFour) {
  EXPECT_EQ(occupancy(l4(), variant(32, 40960), launch(512, 128)).ctas_per_sm, 2);
}

TEST(Occupancy, DynamicHeadDim128HoldsOne) {
  EXPECT_EQ(occupancy(l4(), variant(64, 0, 98336), launch(64, 128)).ctas_per_sm, 1);
}

TEST(Occupancy, EveryLimiterIsNamed) {
  EXPECT_EQ(occupancy(l4(), variant(32, 0), launch(1, 1024)).limiter, Limiter::warps);
  EXPECT_EQ(occupancy(l4(), variant(200, 0), launch(1, 128)).limiter, Limiter::registers);
  EXPECT_EQ(occupancy(l4(), variant(16, 0), launch(1, 32)).limiter, Limiter::ctas);
  EXPECT_EQ(occupancy(h200(), variant(16, 0), launch(1, 32), 16).limiter, Limiter::barriers);
  EXPECT_EQ(occupancy(l4(), variant(16, 30000), launch(1, 32)).limiter, Limiter::shared_memory);
}

// NVIDIA's calculator: an SM has two barriers for each CTA that it may hold, or one on some architectures; no limit
// before 9.0.
TEST(Occupancy, BarriersOfEachArchitecture) {
  for (const auto& [arch, each] : {std::pair{90, 2}, {100, 2}, {103, 2}, {101, 1}, {110, 1}, {120, 1}, {121, 1}}) {
    DeviceSpec spec = h200();
    spec.arch = arch;
    EXPECT_EQ(cta_limits(spec, variant(16, 0), launch(1, 32), 16).barriers, spec.ctas_sm * each / 16) << arch;
  }
  EXPECT_EQ(cta_limits(l4(), variant(16, 0), launch(1, 32), 16).barriers, CtaLimits::kUnlimited);
  EXPECT_EQ(cta_limits(l4(), variant(16, 0), launch(1, 32), 17).barriers, 0) << "a CTA has sixteen";
  EXPECT_EQ(cta_limits(h200(), variant(16, 0), launch(1, 32), 0).barriers, CtaLimits::kUnlimited);
}

TEST(Occupancy, AFullLastWaveHasNoTail) {
  const Occupancy o = occupancy(l4(), variant(40, 36896), launch(232, 128));
  EXPECT_EQ(o.waves, 2);
  EXPECT_EQ(o.tail_ctas, 0);
}

TEST(Occupancy, WhatDoesNotFitHoldsNone) {
  EXPECT_EQ(occupancy(l4(), variant(32, 0, 101377), launch(1, 32)).ctas_per_sm, 0);
  EXPECT_EQ(occupancy(l4(), variant(32, 49153), launch(1, 32)).ctas_per_sm, 0);
  EXPECT_EQ(occupancy(l4(), variant(128, 0), launch(1, 1024)).ctas_per_sm, 0);
  EXPECT_EQ(occupancy(l4(), variant(32, 0), launch(1, 2048)).ctas_per_sm, 0);
  EXPECT_EQ(occupancy(l4(), variant(32, 0, 101377), launch(1, 32)).waves, 0);
  EXPECT_EQ(occupancy(l4(), variant(32, 0, 101376), launch(1, 32)).ctas_per_sm, 1);
}

#ifdef ATTNSCOPE_HAS_OCCUPANCY_HEADER
cudaOccDeviceProp properties_of(const DeviceSpec& spec) {
  cudaOccDeviceProp p;
  p.computeMajor = spec.arch / 10;
  p.computeMinor = spec.arch % 10;
  p.maxThreadsPerBlock = static_cast<int>(spec.threads_block);
  p.maxThreadsPerMultiprocessor = static_cast<int>(spec.warps_sm * 32);
  p.regsPerBlock = static_cast<int>(spec.registers_block);
  p.regsPerMultiprocessor = static_cast<int>(spec.registers_sm);
  p.warpSize = 32;
  p.sharedMemPerBlock = static_cast<size_t>(spec.shared_static_block);
  p.sharedMemPerMultiprocessor = static_cast<size_t>(spec.shared_sm);
  p.numSms = static_cast<int>(spec.sms);
  p.sharedMemPerBlockOptin = static_cast<size_t>(spec.shared_optin_block);
  p.reservedSharedMemPerBlock = static_cast<size_t>(spec.shared_reserved_block);
  return p;
}

// NVIDIA's answer, or -1 if its calculator refuses the input.
cudaOccResult ask(const DeviceSpec& spec, const VariantInfo& v, int64_t threads) {
  const cudaOccDeviceProp properties = properties_of(spec);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = static_cast<int>(spec.threads_block);
  attributes.numRegs = static_cast<int>(v.registers);
  attributes.sharedSizeBytes = static_cast<size_t>(v.static_shared_bytes);
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<size_t>(v.dynamic_shared_bytes);
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  EXPECT_EQ(
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, static_cast<int>(threads),
                                              static_cast<size_t>(v.dynamic_shared_bytes)),
      CUDA_OCC_SUCCESS);
  return result;
}

bool header_limits(const cudaOccResult& result, Limiter limiter) {
  const auto has = [&](unsigned flag) { return (result.limitingFactors & flag) != 0; };
  if (limiter == Limiter::shared_memory) return has(OCC_LIMIT_SHARED_MEMORY);
  if (limiter == Limiter::registers) return has(OCC_LIMIT_REGISTERS);
  if (limiter == Limiter::warps) return has(OCC_LIMIT_WARPS);
  if (limiter == Limiter::ctas) return has(OCC_LIMIT_BLOCKS);
  return has(OCC_LIMIT_BARRIERS);
}

struct EveryDevice : testing::TestWithParam<DeviceSpec> {};

// Every register count × every whole number of warps × shared memory in steps that cross each rounding, static and
// dynamic.
TEST_P(EveryDevice, AgreesWithNvidiasCalculator) {
  const DeviceSpec& spec = GetParam();
  int64_t asked = 0;
  for (int64_t registers = 0; registers <= 255; ++registers) {
    for (int64_t threads = 32; threads <= 1024; threads += registers % 8 == 0 ? 32 : 96) {
      for (int64_t bytes = 0; bytes <= spec.shared_optin_block; bytes += registers % 16 == 0 ? 3967 : 20011) {
        const bool is_static = bytes <= spec.shared_static_block && registers % 2 == 0;
        const VariantInfo v = variant(registers, is_static ? bytes : 0, is_static ? 0 : bytes);
        const cudaOccResult expected = ask(spec, v, threads);
        const Occupancy got = occupancy(spec, v, launch(1, threads));
        ASSERT_EQ(got.ctas_per_sm, expected.activeBlocksPerMultiprocessor)
            << spec.id << " registers " << registers << " threads " << threads << " bytes " << bytes;
        ASSERT_TRUE(header_limits(expected, got.limiter))
            << to_string(got.limiter) << " " << registers << " " << threads << " " << bytes;
        const CtaAllotment allotment = cta_allotment(spec, v, launch(1, threads));
        ASSERT_EQ(allotment.shared_bytes, static_cast<int64_t>(expected.allocatedSharedMemPerBlock));
        ASSERT_EQ(allotment.registers, expected.allocatedRegistersPerBlock);
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, 20000);
}

// Every byte around each step of the shared-memory rounding, and at the end.
TEST_P(EveryDevice, AgreesAtEveryByteOfShared) {
  const DeviceSpec& spec = GetParam();
  for (int64_t bytes = 0; bytes <= spec.shared_optin_block; ++bytes) {
    const VariantInfo v = variant(32, 0, bytes);
    ASSERT_EQ(occupancy(spec, v, launch(1, 128)).ctas_per_sm, ask(spec, v, 128).activeBlocksPerMultiprocessor) << bytes;
  }
  EXPECT_EQ(ask(spec, variant(32, 0, spec.shared_optin_block + 1), 128).activeBlocksPerMultiprocessor, 0);
}

INSTANTIATE_TEST_SUITE_P(Occupancy, EveryDevice, testing::Values(l4(), h200(), a100()),
                         [](const auto& param) { return param.param.id.substr(9); });
#else
TEST(Occupancy, AgreesWithNvidiasCalculator) {
  GTEST_SKIP() << "cuda_occupancy.h of the CUDA runtime was not found when this was built";
}
#endif

}  // namespace
}  // namespace attnscope::model
