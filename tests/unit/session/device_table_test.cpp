// Which worker has a device, what a name means, which device comes first, and which devices may share a scan.
#include "session/device_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/sharing.h"

namespace attnscope::session {
namespace {

using testing::HasSubstr;

DeviceSpec device(const std::string& id, bool emulated) {
  DeviceSpec spec;
  spec.id = id;
  spec.name = emulated ? "L4" : "NVIDIA " + id;
  spec.emulated = emulated;
  return spec;
}

// The local worker, whose emulated device is known in advance, and two remote ones.
class DeviceTableTest : public testing::Test {
 protected:
  using Answer = DeviceTable::Answer;
  Answer find(const std::string& id) const {
    DeviceTable::Place place;
    return table_.find(id, place);
  }
  DeviceTable::Place place(const std::string& id) const { return table_.place_of(id); }

  DeviceTable table_{{"local", "box", "lab"}, {device("emulated:l4", true)}};
};

TEST_F(DeviceTableTest, WhatIsForetoldIsHereAtOnce) {
  EXPECT_EQ(table_.listed(), "emulated:l4");
  EXPECT_EQ(find("emulated:l4"), Answer::here);
  EXPECT_EQ(find("cuda:0"), Answer::not_yet) << "the first worker may have it";
  EXPECT_EQ(find("box/cuda:0"), Answer::not_yet);
  EXPECT_FALSE(table_.choose()) << "a GPU may come";
  EXPECT_EQ(DeviceTable({}, {}).listed(), "none");
}

TEST_F(DeviceTableTest, ARemovedWorkersPlaceStaysEmpty) {
  table_.set_devices(0, {device("emulated:l4", true)}, false);
  table_.set_devices(1, {device("cuda:0", false)}, true);
  table_.set_devices(2, {device("cuda:0", false)}, true);
  table_.remove_worker(1);
  EXPECT_EQ(table_.listed(), "emulated:l4, lab/cuda:0");
  EXPECT_EQ(find("box/cuda:0"), Answer::nowhere);
  EXPECT_EQ(find(""), Answer::nowhere) << "no name is not the removed one's";
  EXPECT_EQ(place("lab/cuda:0").worker, 2u);
  table_.add_worker("box");
  EXPECT_EQ(find("box/cuda:0"), Answer::not_yet);
  table_.set_devices(3, {device("cuda:0", false)}, true);
  EXPECT_EQ(place("box/cuda:0").worker, 3u);
}

TEST_F(DeviceTableTest, AFarDeviceHasItsWorkersName) {
  table_.set_devices(0, {device("emulated:l4", true)}, false);
  table_.set_devices(1, {device("emulated:a", true), device("cuda:0", false), device("cuda:1", false)}, true);
  EXPECT_EQ(table_.listed(), "emulated:l4, box/emulated:a, box/cuda:0, box/cuda:1");
  const auto far = place("box/cuda:1");
  EXPECT_EQ(far.worker, 1u);
  EXPECT_EQ(far.id, "box/cuda:1");
  EXPECT_EQ(far.local_id, "cuda:1");
  ASSERT_NE(far.spec, nullptr);
  EXPECT_EQ(far.spec->name, "NVIDIA cuda:1");
  const auto near = place("emulated:l4");
  EXPECT_EQ(near.worker, 0u);
  EXPECT_EQ(near.local_id, "emulated:l4");
  const auto best = place("box");
  EXPECT_EQ(best.id, "box/cuda:0") << "a worker's first GPU";
  EXPECT_EQ(best.local_id, "cuda:0");
  EXPECT_EQ(find("cuda:0"), Answer::nowhere) << "only a far worker has it";
  EXPECT_EQ(find("box/cuda:2"), Answer::nowhere);
  EXPECT_EQ(find("lab"), Answer::not_yet);
  EXPECT_EQ(table_.far_worker("box/cuda:0"), "box");
  EXPECT_EQ(table_.far_worker("box"), "box");
  EXPECT_EQ(table_.far_worker("boxer"), "");
  EXPECT_EQ(table_.far_worker("local"), "");
}

TEST_F(DeviceTableTest, APlaceIsKnownBeforeItsWorkerIs) {
  const auto later = place("lab/cuda:3");
  EXPECT_EQ(later.worker, 2u);
  EXPECT_EQ(later.id, "lab/cuda:3");
  EXPECT_EQ(later.local_id, "cuda:3");
  EXPECT_EQ(later.spec, nullptr);
  const auto local = place("cuda:0");
  EXPECT_EQ(local.worker, 0u);
  EXPECT_EQ(local.local_id, "cuda:0");
  EXPECT_EQ(local.spec, nullptr);
}

TEST_F(DeviceTableTest, ALostWorkersDevicesStayAndItsTroubleIsSaid) {
  table_.set_devices(1, {device("cuda:0", false)}, true);
  table_.give_up(1, "it does not answer");
  EXPECT_EQ(find("box/cuda:0"), Answer::here) << "a retry can be asked for";
  EXPECT_EQ(table_.missing("box/cuda:1"), "worker box is not available: it does not answer");
  EXPECT_EQ(table_.missing("emulated:l5"), "there is no device emulated:l5");
  table_.give_up(2, "no route");
  EXPECT_EQ(find("lab"), Answer::nowhere);
  table_.set_devices(1, {device("cuda:0", false)}, true);
  EXPECT_EQ(table_.missing("box/cuda:1"), "there is no device box/cuda:1") << "it came back";
}

TEST_F(DeviceTableTest, TheFirstGpuIsChosenAndElseWhyNone) {
  table_.set_devices(0, {device("emulated:l4", true), device("emulated:a", true)}, false);
  ASSERT_TRUE(table_.choose());
  EXPECT_EQ(table_.choose()->id, "emulated:l4");
  EXPECT_THAT(table_.choose()->reason, HasSubstr("No NVIDIA driver was found, so"));
  table_.set_devices(0, {device("emulated:l4", true)}, true);
  EXPECT_THAT(table_.choose()->reason, HasSubstr("No GPU was found, so"));
  table_.set_devices(0, {device("emulated:l4", true), device("cuda:0", false), device("cuda:1", false)}, true);
  EXPECT_EQ(table_.choose()->id, "cuda:0");
  EXPECT_EQ(table_.choose()->reason, "cuda:0, NVIDIA cuda:0: the first GPU found.");
  table_.set_devices(0, {}, false);
  EXPECT_FALSE(table_.choose());
}

TEST(Unlike, NamesWhatKeepsTwoDevicesFromSharing) {
  DeviceSpec a = device("cuda:0", false), b = a;
  a.name = b.name = "NVIDIA L4";
  b.id = "box/cuda:0";
  a.sms = b.sms = 58;
  const Versions same{"1.0", "13.0", "580", ""};
  EXPECT_EQ(unlike(a, same, b, same), "") << "ids do not count";
  b.sources["sms"] = "elsewhere";
  b.runs.emplace_back(LibraryId::cublas);
  EXPECT_EQ(unlike(a, same, b, same), "") << "nor sources and libraries";
  b.sms = 40;
  EXPECT_EQ(unlike(a, same, b, same), "cuda:0 and box/cuda:0 are both NVIDIA L4, but they differ in sms: 58 and 40");
  b.sms = 58;
  b.name = "NVIDIA H200";
  EXPECT_EQ(unlike(a, same, b, same), "cuda:0 is NVIDIA L4 and box/cuda:0 is NVIDIA H200");
  b.name = a.name;
  b.emulated = true;
  EXPECT_EQ(unlike(a, same, b, same), "cuda:0 is NVIDIA L4 and box/cuda:0 is an emulated NVIDIA L4");
  b.emulated = false;
  Versions other = same;
  other.nvrtc = "12.8";
  EXPECT_EQ(unlike(a, same, b, other), "cuda:0 and box/cuda:0 have different versions of NVRTC: 13.0 and 12.8");
  other = same;
  other.driver = "";
  EXPECT_EQ(unlike(a, same, b, other), "cuda:0 and box/cuda:0 have different versions of the driver: 580 and none");
  a.emulated = b.emulated = true;
  EXPECT_EQ(unlike(a, same, b, other), "") << "an emulated device needs no driver";
  other = same;
  other.app = "2.0";
  EXPECT_EQ(unlike(a, same, b, other), "") << "the program takes no part in the time";
}

}  // namespace
}  // namespace attnscope::session
