// Which device a name means.
#include "cli/device_wait.h"

#include <gtest/gtest.h>

namespace attnscope::cli {
namespace {

session::Snapshot with_devices(const std::vector<std::pair<const char*, bool>>& ids) {
  auto devices = std::make_shared<std::vector<DeviceSpec>>();
  for (const auto& [id, emulated] : ids) {
    DeviceSpec& one = devices->emplace_back();
    one.id = id;
    one.emulated = emulated;
  }
  session::Snapshot snapshot;
  snapshot.devices = std::move(devices);
  return snapshot;
}

std::string named(const session::Snapshot& snapshot, const std::string& id) {
  const DeviceSpec* found = device_of(snapshot, id);
  return found != nullptr ? found->id : "none";
}

TEST(DeviceOf, AWholeIdIsThatDevice) {
  const session::Snapshot all =
      with_devices({{"cuda:0", false}, {"emulated:l4", true}, {"box/emulated:l4", true}, {"box/cuda:1", false}});
  for (const char* id : {"cuda:0", "emulated:l4", "box/emulated:l4", "box/cuda:1"}) EXPECT_EQ(named(all, id), id);
  EXPECT_EQ(named(all, "cuda:1"), "none");
  EXPECT_EQ(named(all, "bo"), "none") << "a worker's name is whole";
}

TEST(DeviceOf, NoIdIsTheFirstWorkersFirstGpuElseItsFirstEmulatedDevice) {
  EXPECT_EQ(named(with_devices({{"emulated:a", true}, {"emulated:b", true}}), ""), "emulated:a");
  EXPECT_EQ(named(with_devices({{"emulated:a", true}, {"cuda:0", false}, {"cuda:1", false}}), ""), "cuda:0");
  EXPECT_EQ(named(with_devices({{"box/cuda:0", false}, {"emulated:a", true}}), ""), "emulated:a");
  EXPECT_EQ(named(with_devices({{"box/cuda:0", false}}), ""), "none");
}

TEST(DeviceOf, AWorkersNameIsItsBest) {
  const session::Snapshot all = with_devices({{"cuda:0", false},
                                              {"box/emulated:l4", true},
                                              {"box/cuda:0", false},
                                              {"box/cuda:1", false},
                                              {"slow/emulated:b", true},
                                              {"slow/emulated:a", true}});
  EXPECT_EQ(named(all, "box"), "box/cuda:0");
  EXPECT_EQ(named(all, "slow"), "slow/emulated:b");
  EXPECT_EQ(named(all, "other"), "none");
}

}  // namespace
}  // namespace attnscope::cli
