// What a worker offers its runs: devices, their twins, versions.
#include "worker/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(ServicesTest, DevicesAreFoundByTheirWholeId) {
  const testing_support::TempDir folder;
  const auto services = services_in(folder.path());
  const auto l4 = services->find_device("emulated:l4");
  ASSERT_TRUE(l4) << l4.error().message;
  EXPECT_EQ((*l4)->spec().id, "emulated:l4");
  const auto none = services->find_device("emulated:l");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().stage, Stage::device);
  EXPECT_EQ(none.error().message, "there is no device emulated:l here");
  EXPECT_THAT(none.error().hint, HasSubstr("emulated:l4"));
  EXPECT_THAT(none.error().hint, EndsWith("."));
}

TEST(ServicesTest, ATwinIsEmulatedAndOfTheSameArchitecture) {
  const testing_support::TempDir folder;
  const auto services = services_in(folder.path());
  for (const int arch : {80, 89, 90}) {
    const auto twin = services->emulated_twin(arch);
    ASSERT_NE(twin, nullptr) << arch;
    EXPECT_EQ(twin->spec().arch, arch);
    EXPECT_TRUE(twin->spec().emulated);
  }
  EXPECT_EQ(services->emulated_twin(12), nullptr);
  EXPECT_FALSE(services->lost());
}

TEST(ServicesTest, FailuresOfDeviceFilesAndVersionsAreKept) {
  catalog::DeviceCatalog devices;
  devices.failures.push_back({Stage::input, "broken.json", ""});
  const Services services("1.2.3", "", std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets", std::move(devices),
                          Purpose::run);
  EXPECT_THAT(services.device_failures, testing::Contains(testing::Field(&Failure::message, "broken.json")));
  EXPECT_EQ(services.versions().app, "1.2.3");
  EXPECT_EQ(services.decoded_cache, "") << "without a cache there is no folder in it";
  const testing_support::TempDir folder;
  EXPECT_EQ(services_in(folder.path())->decoded_cache, folder.path() / "programs");
}

}  // namespace
}  // namespace attnscope::worker
