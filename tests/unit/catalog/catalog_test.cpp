#include "catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Catalog, TheShippedKernelsLoadInTheOrderOfTheLadder) {
  const Catalog catalog = load_catalog({source_dir() / "kernels"});
  for (const Failure& failure : catalog.failures) ADD_FAILURE() << failure.message;
  std::vector<std::string> ids;
  for (const Kernel& kernel : catalog.kernels) ids.push_back(kernel.id);
  ASSERT_GE(ids.size(), 2u);
  EXPECT_EQ(ids[0], "minimal");
  EXPECT_EQ(ids[1], "tiled");
  EXPECT_EQ(catalog.kernels[1].rung, 2);
  EXPECT_FALSE(catalog.kernels[1].story.empty());
}

TEST(Catalog, ABadManifestLeavesTheOthersStanding) {
  ScratchDir dir;
  write(dir.path() / "sample.json", good_manifest().dump());
  write(dir.path() / "sample.cu", "// source");
  write(dir.path() / "broken.json", "{");
  write(dir.path() / "notes.txt", "not a manifest");
  const Catalog catalog = load_catalog({dir.path()});
  ASSERT_EQ(catalog.kernels.size(), 1u);
  EXPECT_EQ(catalog.kernels[0].source, "// source");
  ASSERT_EQ(catalog.failures.size(), 1u);
  EXPECT_THAT(catalog.failures[0].message, HasSubstr("broken.json"));
}

TEST(Catalog, AnIdThatIsTakenNamesBothFiles) {
  ScratchDir dir;
  for (const char* sub : {"a", "b"}) {
    write(dir.path() / sub / "sample.json", good_manifest().dump());
    write(dir.path() / sub / "sample.cu", "// source");
  }
  const Catalog catalog = load_catalog({dir.path() / "a", dir.path() / "b"});
  ASSERT_EQ(catalog.kernels.size(), 1u);
  ASSERT_EQ(catalog.failures.size(), 1u);
  EXPECT_THAT(catalog.failures[0].message, AllOf(HasSubstr("a/sample.json"), HasSubstr("b/sample.json")));
}

TEST(Catalog, AFolderThatIsNotThereIsAFailure) {
  const Catalog catalog = load_catalog({"/no/such/folder"});
  ASSERT_EQ(catalog.failures.size(), 1u);
  EXPECT_THAT(catalog.failures[0].message, HasSubstr("/no/such/folder"));
}

TEST(Catalog, ASourceThatIsNotThereNamesManifestAndSource) {
  ScratchDir dir;
  write(dir.path() / "sample.json", good_manifest().dump());
  Result<Kernel> kernel = load_kernel(dir.path() / "sample.json");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().stage, Stage::catalog);
  EXPECT_THAT(kernel.error().message, AllOf(HasSubstr("sample.json/source"), HasSubstr("sample.cu")));
}

TEST(Catalog, AManifestOfOverAMegabyteIsNotRead) {
  ScratchDir dir;
  write(dir.path() / "sample.json", std::string(kMaxManifestBytes + 1, ' '));
  Result<Kernel> kernel = load_kernel(dir.path() / "sample.json");
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("sample.json"));
}

TEST(Devices, TheShippedOnesLoadWithTheDefaultFirst) {
  const DeviceCatalog catalog = load_devices(source_dir() / "assets/devices");
  for (const Failure& failure : catalog.failures) ADD_FAILURE() << failure.message;
  std::vector<std::string> ids;
  for (const DeviceSpec& spec : catalog.devices) ids.push_back(spec.id);
  EXPECT_THAT(ids, ElementsAre("emulated:l4", "emulated:a100", "emulated:h200", "emulated:rtx4090"));
}

TEST(Devices, AFigureWithoutASourceIsRefused) {
  ScratchDir dir;
  Json json = to_json(device("l4"));
  json["sources"].erase("sms");
  write(dir.path() / "l4.json", json.dump());
  Result<DeviceSpec> spec = load_device(dir.path() / "l4.json");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("/sources/sms"));

  json = to_json(device("l4"));
  json["rates"]["made_up"] = 3;
  write(dir.path() / "l4.json", json.dump());
  EXPECT_THAT(load_device(dir.path() / "l4.json").error().message, HasSubstr("/sources/rates/made_up"));

  json = to_json(device("l4"));
  json["id"] = "emulated:l5";
  write(dir.path() / "l4.json", json.dump());
  EXPECT_THAT(load_device(dir.path() / "l4.json").error().message, HasSubstr("/id"));
}

TEST(Devices, LimitsAreThoseOfTheArchitecture) {
  EXPECT_EQ(device("l4").shared_optin_block, 99 * 1024);
  EXPECT_EQ(device("rtx4090").shared_sm, 100 * 1024);
  EXPECT_EQ(device("a100").shared_optin_block, 163 * 1024);
  EXPECT_EQ(device("a100").arch, 80);
  EXPECT_EQ(device("h200").shared_optin_block, 227 * 1024);
  EXPECT_EQ(device("h200").warps_sm, 64);
}

}  // namespace
}  // namespace attnscope::catalog
