#include "session/scan_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace attnscope::session {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

// The points that a place compiles ahead: as many as it may, from `first` on.
std::vector<size_t> ahead_from(size_t first) {
  std::vector<size_t> points(ScanSites::kMostAhead);
  std::iota(points.begin(), points.end(), first);
  return points;
}

// Two workers, a and b, with one device each, that share a scan.
class ScanSitesTest : public testing::Test {
 protected:
  ScanSitesTest() {
    spec_.id = "emulated:l4";
    spec_.name = "NVIDIA L4";
    spec_.sms = 58;
    scan_.points.resize(3 * ScanSites::kMostAhead);
    now_["a"] = now_["b"] = PlaceNow{true, false, &spec_, {}, ""};
    sites_ =
        ScanSites({{1, "a", "emulated:l4", &spec_}, {2, "b", "emulated:l4", &spec_}}, Sharing{{"a", "b"}, spec_, {}});
  }

  // Takes and starts the next point; returns it with its place.
  std::string take() {
    const auto taken = sites_.next(scan_, look());
    if (!taken) return "none";
    ahead_ = taken->ahead;
    sites_.start(*taken);
    return sites_.place(taken->site).id + " " + std::to_string(taken->point);
  }
  void end(size_t site, size_t point) {
    sites_.end(site);
    scan_.points[point].observation = std::make_shared<Observation>();
  }
  LookAt look() {
    return [this](const DeviceTable::Place& place) { return now_.at(place.id); };
  }

  DeviceSpec spec_;
  Scan scan_;
  std::map<std::string, PlaceNow> now_;
  ScanSites sites_;
  std::vector<size_t> ahead_;
};

TEST_F(ScanSitesTest, EachPlaceHasOnePointAtATime) {
  constexpr size_t kMost = ScanSites::kMostAhead;
  EXPECT_EQ(take(), "a 0");
  EXPECT_THAT(ahead_, ElementsAreArray(ahead_from(1)));
  EXPECT_EQ(take(), "b " + std::to_string(kMost + 1)) << "a compiles those before it";
  EXPECT_THAT(ahead_, ElementsAreArray(ahead_from(kMost + 2)));
  EXPECT_EQ(take(), "none");
  end(0, 0);
  EXPECT_EQ(take(), "a 1") << "what it has compiled";
  std::vector<size_t> next = ahead_from(2);
  next.back() = 2 * kMost + 2;  // b compiles those between
  EXPECT_THAT(ahead_, ElementsAreArray(next));
}

TEST_F(ScanSitesTest, APlaceWithoutWorkTakesWhatAnotherCompiles) {
  scan_.points.resize(3);
  EXPECT_EQ(take(), "a 0");
  EXPECT_EQ(take(), "b 1");
  EXPECT_THAT(ahead_, IsEmpty()) << "a compiles the last one";
  end(1, 1);
  EXPECT_EQ(take(), "b 2");
}

TEST_F(ScanSitesTest, OnePlaceGoesInOrder) {
  ScanSites one(DeviceTable::Place{0, "emulated:l4", "emulated:l4", &spec_});
  EXPECT_FALSE(one.shared());
  const auto first = one.next(scan_, {});
  ASSERT_TRUE(first);
  EXPECT_THAT(first->ahead, ElementsAreArray(ahead_from(1)));
  one.start(*first);
  EXPECT_FALSE(one.next(scan_, {}));
  EXPECT_EQ(one.hopeless({}), "");
}

TEST_F(ScanSitesTest, WhatALostWorkerHadIsTriedElsewhereOnce) {
  EXPECT_EQ(take(), "a 0");
  EXPECT_FALSE(sites_.lose(0, "a", "ended by signal 9"));
  EXPECT_EQ(take(), "a 1") << "its own again only if no other one is left";
  EXPECT_EQ(take(), "b 0");
  const auto lost = sites_.lose(1, "b", "closed its output");
  ASSERT_TRUE(lost);
  EXPECT_EQ(*lost, "a: ended by signal 9; b: closed its output");
}

TEST_F(ScanSitesTest, TheOnlyWorkerLeftTriesItsOwnAgain) {
  EXPECT_EQ(take(), "a 0");
  EXPECT_FALSE(sites_.lose(0, "a", "ended by signal 9"));
  now_["b"].up = false;
  EXPECT_EQ(take(), "a 1") << "b may come back";
  end(0, 1);
  now_["b"].lost = true;
  EXPECT_EQ(take(), "a 0");
  EXPECT_TRUE(sites_.lose(0, "a", "ended by signal 9"));
}

TEST_F(ScanSitesTest, OnlyWhatIsUpAndAlikeTakesPart) {
  now_["a"].up = false;
  DeviceSpec other = spec_;
  other.id = "b/emulated:l4";
  other.sms = 60;
  now_["b"].spec = &other;
  EXPECT_EQ(take(), "none");
  EXPECT_EQ(sites_.hopeless(look()), "") << "a may come";
  now_["a"].lost = true;
  now_["a"].detail = "no route to host";
  const std::string why = sites_.hopeless(look());
  EXPECT_THAT(why, HasSubstr("a: no route to host"));
  EXPECT_THAT(
      why,
      HasSubstr("b/emulated:l4 and emulated:l4 are both an emulated NVIDIA L4, but they differ in sms: 60 and 58"));
  now_["b"].spec = &spec_;
  EXPECT_EQ(take(), "b 0");
  EXPECT_EQ(sites_.hopeless(look()), "");
  now_["b"].spec = nullptr;
  sites_.end(1);
  EXPECT_THAT(sites_.hopeless(look()), HasSubstr("b: its worker has no such device"));
}

TEST_F(ScanSitesTest, AnotherNvccTakesNoPointsIfNvccCompilesSome) {
  now_["b"].versions.nvcc = "13.0.88";
  EXPECT_EQ(take(), "a 0");
  EXPECT_NE(take(), "none") << "NVRTC compiles them";
  sites_ = ScanSites({{1, "a", "emulated:l4", &spec_}, {2, "b", "emulated:l4", &spec_}},
                     Sharing{{"a", "b"}, spec_, {}, true});
  EXPECT_EQ(take(), "a 0");
  EXPECT_EQ(take(), "none");
}

TEST(Unlike, NamesBothDevicesAndWhatDiffers) {
  DeviceSpec l4, a100;
  l4.id = "a/cuda:0";
  l4.name = "NVIDIA L4";
  l4.emulated = false;
  a100 = l4;
  a100.id = "b/cuda:0";
  a100.name = "NVIDIA A100";
  EXPECT_EQ(unlike(l4, {}, a100, {}), "a/cuda:0 is NVIDIA L4 and b/cuda:0 is NVIDIA A100");
  DeviceSpec emulated = l4;
  emulated.emulated = true;
  EXPECT_EQ(unlike(l4, {}, emulated, {}), "a/cuda:0 is NVIDIA L4 and a/cuda:0 is an emulated NVIDIA L4");
  DeviceSpec same = l4;
  same.id = "cuda:3";
  same.sources["sms"] = "elsewhere";
  EXPECT_EQ(unlike(l4, {}, same, {}), "");
  const Versions old{"1", "12.8", "570", ""}, newer{"1", "13.0", "570", ""}, driver{"1", "12.8", "580", ""};
  EXPECT_EQ(unlike(l4, old, same, newer), "a/cuda:0 and cuda:3 have different versions of NVRTC: 12.8 and 13.0");
  EXPECT_EQ(unlike(l4, old, same, driver), "a/cuda:0 and cuda:3 have different versions of the driver: 570 and 580");
  EXPECT_EQ(unlike(emulated, old, emulated, driver), "") << "an emulated device has no driver";
  Versions with_nvcc = old;
  with_nvcc.nvcc = "13.0.88";
  EXPECT_EQ(unlike(l4, old, same, with_nvcc), "") << "nothing is compiled by it";
  EXPECT_EQ(unlike(l4, old, same, with_nvcc, true),
            "a/cuda:0 and cuda:3 have different versions of nvcc: none and 13.0.88");
}

}  // namespace
}  // namespace attnscope::session
