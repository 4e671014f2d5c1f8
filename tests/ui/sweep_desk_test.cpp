// Which devices of other workers the sweep's panel offers.
#include "ui/sweep_desk.h"

#include <gmock/gmock.h>

namespace attnscope::ui {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OtherDevices : public testing::Test {
 protected:
  OtherDevices() {
    add("local", "cuda:0", "NVIDIA L4");
    add("a", "a/cuda:0", "NVIDIA L4");
    add("a", "a/cuda:1", "NVIDIA L4");
    add("b", "b/cuda:0", "NVIDIA A10G");
  }
  void add(const std::string& worker, const std::string& id, const std::string& name) {
    if (std::ranges::count(snapshot_.workers, worker, &session::WorkerStatus::name) == 0)
      snapshot_.workers.emplace_back().name = worker;
    snapshot_.workers.back().versions.nvcc = "13.0.88";
    DeviceSpec spec;
    spec.id = id;
    spec.name = name;
    devices_.push_back(spec);
    snapshot_.devices = session::share(devices_);
  }
  auto offered(bool by_nvcc) { return SweepDesk::others(snapshot_, "cuda:0", by_nvcc); }

  std::vector<DeviceSpec> devices_;
  session::Snapshot snapshot_;
};

TEST_F(OtherDevices, AreOfOtherWorkersOneOfEachAndOfTheSameName) {
  EXPECT_THAT(offered(true), ElementsAre(FieldsAre("a/cuda:0", "")));
}

TEST_F(OtherDevices, AnotherVersionOfNvccCountsOnlyWhereNvccCompiles) {
  snapshot_.workers[1].versions.nvcc = "12.8.93";
  EXPECT_THAT(offered(false), ElementsAre(FieldsAre("a/cuda:0", "")));
  EXPECT_THAT(offered(true),
              ElementsAre(FieldsAre("a/cuda:0", HasSubstr("different versions of nvcc: 13.0.88 and 12.8.93"))));
}

TEST_F(OtherDevices, ADeviceThatCanShareComesBeforeOneThatCannot) {
  devices_[1].sms = 1;
  snapshot_.devices = session::share(devices_);
  EXPECT_THAT(offered(false), ElementsAre(FieldsAre("a/cuda:1", "")));
}

TEST_F(OtherDevices, AnUnknownDeviceHasNone) { EXPECT_THAT(SweepDesk::others(snapshot_, "cuda:7", false), IsEmpty()); }

}  // namespace
}  // namespace attnscope::ui
