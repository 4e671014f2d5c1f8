#include "session/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace attnscope::session {
namespace {

using testing::HasSubstr;

DeviceSpec device(const std::string& id, const std::string& name, bool emulated, int arch = 89) {
  DeviceSpec spec;
  spec.id = id;
  spec.name = name;
  spec.emulated = emulated;
  spec.arch = arch;
  return spec;
}
const DeviceSpec kL4 = device("emulated:l4", "NVIDIA L4", true),
                 kH200 = device("emulated:h200", "NVIDIA H200", true, 90);

TEST(DeviceTable, PredictsTheFirstWorkersEmulatedDevices) {
  DeviceTable table({"local", "far"}, {kL4});
  DeviceTable::Place place;
  EXPECT_EQ(table.find("emulated:l4", place), DeviceTable::Answer::here);
  EXPECT_EQ(table.find("cuda:0", place), DeviceTable::Answer::not_yet);
  EXPECT_EQ(table.find("far/cuda:0", place), DeviceTable::Answer::not_yet);
  EXPECT_FALSE(table.choose()) << "a GPU may still turn up";
}

TEST(DeviceTable, TheFirstGpuIsChosenElseTheFirstDevice) {
  DeviceTable table({"local"}, {kL4});
  table.set_devices(0, {kL4, kH200}, false);
  ASSERT_TRUE(table.choose());
  EXPECT_EQ(table.choose()->id, "emulated:l4");
  EXPECT_THAT(table.choose()->reason, HasSubstr("No NVIDIA driver"));
  table.set_devices(0, {kL4}, true);
  EXPECT_THAT(table.choose()->reason, HasSubstr("No GPU"));
  table.set_devices(0, {kL4, device("cuda:0", "NVIDIA L4", false), device("cuda:1", "NVIDIA L4", false)}, true);
  EXPECT_EQ(table.choose()->id, "cuda:0");
  EXPECT_THAT(table.choose()->reason, HasSubstr("first GPU"));
}

TEST(DeviceTable, AnotherWorkersDevicesBearItsName) {
  DeviceTable table({"local", "l4box"}, {kL4});
  table.set_devices(0, {kL4}, false);
  table.set_devices(1, {device("cuda:0", "NVIDIA L4", false), kH200}, true);
  DeviceTable::Place place;
  ASSERT_EQ(table.find("l4box/cuda:0", place), DeviceTable::Answer::here);
  EXPECT_EQ(place.worker, 1u);
  EXPECT_EQ(place.local_id, "cuda:0");
  EXPECT_EQ(table.find("cuda:0", place), DeviceTable::Answer::nowhere);
  EXPECT_EQ(table.find("l4box/cuda:1", place), DeviceTable::Answer::nowhere);
  EXPECT_EQ(table.choose()->id, "l4box/cuda:0");
}

TEST(DeviceTable, ALostWorkerKeepsWhatItWasKnownToHave) {
  DeviceTable table({"local"}, {kL4});
  table.give_up(0, "gone");
  DeviceTable::Place place;
  EXPECT_EQ(table.find("emulated:l4", place), DeviceTable::Answer::here);
  EXPECT_EQ(table.find("cuda:0", place), DeviceTable::Answer::nowhere);
  EXPECT_EQ(table.choose()->id, "emulated:l4");
}

class Resolve : public testing::Test {
 protected:
  Resolve() : devices_({"local"}, {kL4}) {
    auto tiled = catalog::load_kernel(std::string(ATTNSCOPE_SOURCE_DIR) + "/kernels/02_tiled.json");
    EXPECT_TRUE(tiled) << tiled.error().message;
    shelf_.set({*tiled});
    draft_.kernel = "tiled";
    draft_.device = "emulated:l4";
  }
  Resolution resolve(bool wish = false) { return session::resolve(draft_, shelf_, devices_, wish); }

  KernelShelf shelf_;
  DeviceTable devices_;
  Draft draft_;
};

TEST_F(Resolve, CompletesTheConfigAndNamesTheKernelsContent) {
  draft_.config.knobs = {{"NUM_WARPS", 8}};
  const Resolution r = resolve();
  ASSERT_FALSE(r.failure) << r.failure->message;
  EXPECT_EQ(r.experiment.config.knobs.at("NUM_WARPS"), 8);
  EXPECT_EQ(r.experiment.config.knobs.at("BLOCK_M"), 32);
  EXPECT_EQ(r.experiment.config.knobs.size(), r.kernel->knobs.size());
  EXPECT_EQ(r.experiment.kernel_hash, r.kernel->content_hash);
}

TEST_F(Resolve, RefusesInOrder) {
  draft_.config.knobs = {{"NUM_WARPS", 5}};
  EXPECT_THAT(resolve().failure->message, HasSubstr("NUM_WARPS"));
  draft_.config.knobs = {{"NUM_WARPS", 8}};
  draft_.problem.seq_q = 0;
  EXPECT_THAT(resolve().failure->message, HasSubstr("seq_q"));
  draft_.problem.seq_q = 512;
  draft_.problem.head_dim = 96;
  EXPECT_EQ(resolve().failure->stage, Stage::input);
  draft_.kernel = "none";
  EXPECT_THAT(resolve().failure->hint, HasSubstr("tiled"));
}

TEST_F(Resolve, WaitsForADeviceThatMayStillTurnUp) {
  draft_.device = "cuda:0";
  EXPECT_TRUE(resolve().wait);
  draft_.device.clear();
  EXPECT_TRUE(resolve().wait);
  EXPECT_EQ(resolve().experiment.device, "emulated:l4") << "a guess, to be shown meanwhile";
}

TEST_F(Resolve, AWishThatCannotBeMetFallsBackAndADemandDoesNot) {
  devices_.set_devices(0, {kL4}, false);
  draft_.device = "cuda:0";
  EXPECT_EQ(resolve(false).failure->stage, Stage::device);
  const Resolution r = resolve(true);
  ASSERT_FALSE(r.failure);
  EXPECT_EQ(r.experiment.device, "emulated:l4");
  EXPECT_THAT(r.device_reason, HasSubstr("cuda:0 is not here"));
}

TEST_F(Resolve, OlderVersionsOfAKernelStayAtHand) {
  const std::string old_hash = shelf_.find("tiled")->content_hash;
  Kernel edited = *shelf_.find("tiled");
  edited.source += "\n// edited";
  edited.content_hash = catalog::content_hash(edited.manifest, edited.source);
  shelf_.set({edited});
  EXPECT_EQ(shelf_.find("tiled")->content_hash, edited.content_hash);
  ASSERT_TRUE(shelf_.content(old_hash));
  EXPECT_NE(shelf_.content(old_hash)->source, edited.source);
  EXPECT_FALSE(shelf_.content("unknown"));
}

}  // namespace
}  // namespace attnscope::session
