#include "sweep/twin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/devices.h"

namespace attnscope::sweep {
namespace {

using testing::HasSubstr;

const std::vector<DeviceSpec>& shipped() {
  static const auto devices = catalog::load_devices(ATTNSCOPE_SOURCE_DIR "/assets/devices").devices;
  return devices;
}

std::string twin_of(const std::string& driver_name) {
  DeviceSpec gpu;
  gpu.name = driver_name;
  const auto twin = emulated_twin(gpu, "", shipped());
  return twin ? twin->id : twin.error().message;
}

TEST(EmulatedTwin, AGpuIsRecognisedByTheNameThatItsDriverGivesIt) {
  EXPECT_EQ(twin_of("NVIDIA L4"), "emulated:l4");
  EXPECT_EQ(twin_of("NVIDIA H200"), "emulated:h200");
  EXPECT_EQ(twin_of("NVIDIA H100 80GB HBM3"), "emulated:h100");
  EXPECT_EQ(twin_of("NVIDIA A100-SXM4-80GB"), "emulated:a100");
  EXPECT_EQ(twin_of("NVIDIA A10G"), "emulated:a10g");
  EXPECT_EQ(twin_of("NVIDIA GeForce RTX 3090"), "emulated:rtx3090");
  EXPECT_EQ(twin_of("NVIDIA GeForce RTX 4090"), "emulated:rtx4090");
  EXPECT_EQ(twin_of("NVIDIA GeForce RTX 4080 SUPER"), "emulated:rtx4080super");
  EXPECT_EQ(twin_of("NVIDIA GeForce RTX 4070"), "emulated:rtx4070");
  EXPECT_EQ(twin_of("NVIDIA L20"), "emulated:l20");
}

TEST(EmulatedTwin, ToRankItRunsAFewCtas) {
  Problem small, large;
  large.batch = 64;
  large.heads = 64;
  large.seq_q = large.seq_k = 65536;
  EXPECT_EQ(emulated_share(small), 1);
  EXPECT_LT(ranking_share(small), 0.1);
  EXPECT_GT(ranking_share(large), 0);
  EXPECT_LE(ranking_share(large), emulated_share(large));
}

TEST(EmulatedTwin, AnotherGpuHasNone) {
  EXPECT_THAT(twin_of("NVIDIA H100 PCIe"), HasSubstr("no emulated device is a NVIDIA H100 PCIe"));
  EXPECT_THAT(twin_of("NVIDIA L40S"), HasSubstr("no emulated device is a NVIDIA L40S"));
  EXPECT_THAT(twin_of("NVIDIA GeForce RTX 4080"), HasSubstr("no emulated device is a NVIDIA GeForce RTX 4080"));
}

}  // namespace
}  // namespace attnscope::sweep
