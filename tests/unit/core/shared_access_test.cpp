#include "core/shared_access.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace attnscope {
namespace {

SharedAccess access(SharedUse use, int64_t bytes, const std::function<int64_t(int)>& at, int64_t mask = 0xffffffff) {
  SharedAccess made{{}, mask, bytes, use};
  for (int lane = 0; lane < 32; ++lane)
    if (made.active(lane)) made.at[static_cast<size_t>(lane)] = at(lane);
  return made;
}

std::vector<uint32_t> lanes_of(const SharedAccess& one) {
  std::vector<uint32_t> lanes;
  for (const SharedPhase& phase : phases_of(one)) lanes.push_back(phase.lanes);
  return lanes;
}

using Lanes = std::vector<uint32_t>;

TEST(SharedPhases, WideAccessesAreServedByHalvesAndQuarters) {
  const auto row = [](int lane) { return 16 * lane; };
  EXPECT_EQ(lanes_of(access(SharedUse::load, 4, row)), Lanes{0xffffffff});
  EXPECT_EQ(lanes_of(access(SharedUse::load, 8, row)), (Lanes{0xffff, 0xffff0000}));
  EXPECT_EQ(lanes_of(access(SharedUse::load, 16, row)), (Lanes{0xff, 0xff00, 0xff0000, 0xff000000}));
  EXPECT_EQ(lanes_of(access(SharedUse::matrices, 16, row, 0xffff)), (Lanes{0xff, 0xff00}));
  EXPECT_EQ(lanes_of(access(SharedUse::copy, 16, row, 0xf000000f)), (Lanes{0xf, 0xf0000000}));
  EXPECT_EQ(lanes_of(access(SharedUse::load, 16, row, 0)), Lanes{});
}

TEST(SharedPhases, OnlyLoadsMergeGroupsWhoseLanesAgree) {
  const auto pairs = [](int lane) { return 16 * (lane / 2); };
  EXPECT_EQ(lanes_of(access(SharedUse::load, 16, pairs)), (Lanes{0xffff, 0xffff0000}));
  EXPECT_EQ(lanes_of(access(SharedUse::load, 8, pairs)), Lanes{0xffffffff});
  for (const SharedUse use : {SharedUse::store, SharedUse::matrices, SharedUse::copy})
    EXPECT_EQ(lanes_of(access(use, 16, pairs)).size(), 4u) << to_string(use);
}

TEST(SharedPhases, AddUpToTheWavefronts) {
  for (const SharedUse use : {SharedUse::load, SharedUse::store, SharedUse::matrices, SharedUse::copy})
    for (const int64_t bytes : {4, 8, 16})
      for (const int64_t step : {0, 16, 48, 128, 144})
        for (const int64_t mask : {0xffffffffll, 0xffll, 0xff00ffll, 0x1ll, 0x0ll}) {
          const SharedAccess one = access(
              use, bytes, [&](int lane) { return step * lane; }, mask);
          int sum = 0;
          for (const SharedPhase& phase : phases_of(one)) sum += phase.wavefronts;
          EXPECT_EQ(sum, wavefronts_of(one).taken) << to_string(use) << bytes << ' ' << step << ' ' << mask;
        }
}

TEST(SharedPlaces, TheFirstThatHoldsTheByte) {
  const std::vector<SharedPlace> places{{"a", 0, 64}, {"b", 64, 32}, {"c", 64, 64}};
  EXPECT_EQ(place_of(places, 63), &places[0]);
  EXPECT_EQ(place_of(places, 64), &places[1]);
  EXPECT_EQ(place_of(places, 100), &places[2]);
  EXPECT_EQ(place_of(places, 128), nullptr);
  EXPECT_EQ(place_of(places, -1), nullptr);
}

}  // namespace
}  // namespace attnscope
