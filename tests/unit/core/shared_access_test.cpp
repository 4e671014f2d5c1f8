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

// A shape is kept once, from a row of banks; a step says where it lies.
TEST(SharedSteps, AnAccessIsItsShapeAtItsBase) {
  SharedSteps steps;
  steps.shapes = {{.mask = 0x5, .bytes = 8, .use = SharedUse::store}, {.mask = 0x2}};
  steps.shapes[0].at[0] = 4, steps.shapes[0].at[2] = 68;
  steps.shapes[1].at[1] = 12;
  steps.steps = {{0, 0, 1, 256}, {3, 1, 0, 1024}};
  const SharedAccess first = steps.access(0), second = steps.access(1);
  EXPECT_EQ(first.at[1], 268);
  EXPECT_EQ(first.mask, 0x2);
  EXPECT_EQ(second.at[0], 1028);
  EXPECT_EQ(second.at[1], 0) << "no active lane";
  EXPECT_EQ(second.at[2], 1092);
  EXPECT_EQ(second.bytes, 8);
  EXPECT_EQ(second.use, SharedUse::store);
}

TEST(SharedPlaces, AByteIsOfThePlaceThatContainsIt) {
  const std::vector<SharedPlace> places{{"a", 0, 128}, {"b", 128, 64}, {"c", 256, 4}};
  const auto name = [&](int64_t byte) {
    const SharedPlace* place = place_of(places, byte);
    return place == nullptr ? "" : place->name;
  };
  EXPECT_EQ(name(0), "a");
  EXPECT_EQ(name(127), "a");
  EXPECT_EQ(name(128), "b");
  EXPECT_EQ(name(191), "b");
  EXPECT_EQ(name(192), "");
  EXPECT_EQ(name(255), "");
  EXPECT_EQ(name(259), "c");
  EXPECT_EQ(name(260), "");
  EXPECT_EQ(name(-1), "");
}

}  // namespace
}  // namespace attnscope
