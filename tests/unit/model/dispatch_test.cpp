// Which CTAs an SM gets, compared with grids that can be dispatched by hand.
#include "model/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/json.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

using testing::ElementsAre;

// CTAs of one warp with `lengths` instructions, traced at these places along x.
KernelSchedule traced(const std::vector<std::pair<int64_t, size_t>>& lengths) {
  KernelSchedule s = schedule({{instruction(Unit::fp32)}}, {{}});
  s.traces.clear();
  for (const auto& [x, length] : lengths) s.traces.push_back({x, {std::vector<Visit>(length, Visit{0, 32})}});
  return s;
}

LaunchShape grid(int64_t x, int64_t y = 1) { return {{x, y, 1}, {32, 1, 1}}; }

TEST(Dispatch, APlaceAlongXTakesTheNearestTrace) {
  const KernelSchedule s = traced({{0, 1}, {4, 5}, {8, 9}});
  EXPECT_THAT(trace_along_x(s, grid(9)), ElementsAre(0, 0, 0, 1, 1, 1, 1, 2, 2));
  EXPECT_THAT(instructions_of(s), ElementsAre(1, 5, 9));
  // CTA 13 of a grid that is nine wide is x = 4 of its second row.
  EXPECT_THAT(trace_along_x(traced({{0, 1}, {13, 5}}), grid(9, 2)), ElementsAre(0, 0, 0, 1, 1, 1, 1, 1, 1));
}

TEST(Dispatch, BetweenTwoTracedCtasInstructionsGoOnAStraightLine) {
  EXPECT_THAT(instructions_along_x(traced({{1, 1}, {5, 9}}), grid(8)), ElementsAre(1, 1, 3, 5, 7, 9, 9, 9));
  // Of the four CTAs on one SM, two lie between traced ones: they have 3 and 5 instructions, and traces of 1 and 7
  // stand for them.
  const Dispatched out = dispatch(traced({{0, 1}, {3, 7}}), grid(4), {1, 1});
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(out.sms[0].work, 16);
  EXPECT_EQ(out.sms[0].scale, 1);
  // A traced CTA is as long as its trace, whatever the length of the others.
  EXPECT_EQ(dispatch(traced({{0, 9}, {3, 1}}), grid(4), {4, 1}).sms[0].scale, 1);
}

// The second CTA has 4 instructions, and a trace of 7 stands for it; the first takes its own 7 in any case.
TEST(Dispatch, AShorterNeighbourMakesTheLongestCtaNoShorter) {
  const Dispatched out = dispatch(traced({{0, 7}, {2, 1}}), grid(3), {1, 3});
  ASSERT_EQ(out.sms.size(), 2U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(0, 0, 1));
  EXPECT_EQ(out.sms[0].scale, 12.0 / 15);
  EXPECT_THAT(out.sms[1].ctas, ElementsAre(0));
  EXPECT_EQ(out.sms[1].scale, 1);
}

TEST(Dispatch, EachSmGetsOneBeforeAnyGetsTwo) {
  const Dispatched out = dispatch(traced({{0, 1}, {1, 10}}), grid(2, 3), {4, 2});
  EXPECT_EQ(out.ctas, 6);
  ASSERT_EQ(out.sms.size(), 1U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(1, 1)) << "CTAs 1 and 5";
}

TEST(Dispatch, AFreePlaceTakesTheNext) {
  // Short, long, short, long… on two places: the long one takes the second, the following ones take the first.
  const Dispatched out = dispatch(traced({{0, 1}, {1, 10}}), grid(2, 3), {2, 1});
  ASSERT_EQ(out.sms.size(), 1U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(1, 0, 1)) << "1, 4 and 5, done at 21; 0, 2 and 3 at 12";
}

TEST(Dispatch, OfOneWaveTheLongestCtaMayDecideToo) {
  // SM 0 has the longest CTA, SM 1 has two that take longer together.
  const Dispatched out = dispatch(traced({{0, 10}, {1, 8}, {2, 1}, {3, 8}}), grid(4), {2, 2});
  ASSERT_EQ(out.sms.size(), 2U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(1, 3));
  EXPECT_THAT(out.sms[1].ctas, ElementsAre(0, 2));
}

// Places 0 and 4 share a scheduler. The first SM's CTAs have 3, 3, 3, 3 and 1 instructions, the second's 3, 1, 1, 1
// and 3.
TEST(Dispatch, TheSmWithTheBusiestSchedulerMayDecideToo) {
  const KernelSchedule s = traced({{0, 3}, {1, 3}, {2, 3}, {3, 1}, {4, 3}, {5, 1}, {6, 3}, {7, 1}, {8, 1}, {9, 3}});
  const Dispatched out = dispatch(s, grid(10), {2, 5});
  ASSERT_EQ(out.sms.size(), 2U);
  EXPECT_EQ(out.sms[0].work, 13);
  EXPECT_EQ(out.sms[1].work, 9);
  LaunchShape wide = grid(10);
  wide.block = {128, 1, 1};
  EXPECT_EQ(dispatch(s, wide, {2, 5}).sms.size(), 1U) << "each CTA has a warp on each scheduler";
}

TEST(Dispatch, AVeryLargeGridIsHandedOutInWholeRows) {
  const LaunchShape launch = grid(1000, 4000);
  const Dispatched out = dispatch(traced({{0, 1}, {999, 3}}), launch, {10, 4});
  EXPECT_EQ(out.ctas, 262'000);
  EXPECT_NEAR(out.sms[0].work, 262'000 * 2 / 10, 4) << "evenly, except for one CTA";
}

// The CTAs of each SM, sorted: which SM is which does not matter.
std::vector<std::vector<int64_t>> by_sm(const std::vector<int64_t>& sm_of_cta, int64_t sms) {
  std::vector<std::vector<int64_t>> ctas(static_cast<size_t>(sms));
  for (size_t cta = 0; cta < sm_of_cta.size(); ++cta)
    ctas[static_cast<size_t>(sm_of_cta[cta])].push_back(static_cast<int64_t>(cta));
  std::ranges::sort(ctas);
  return ctas;
}

DeviceSpec shipped_h200() {
  const Json json = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/assets/devices/h200.json"));
  DeviceSpec spec = h200();
  spec.rates = json["rates"].get<std::map<std::string, double>>();
  return spec;
}

// The first CTAs of two grids on an H200: 396 with room for all, and 660 of which two fit on an SM.
TEST(FirstPlaces, AreThoseOfAnH200) {
  std::ifstream lines(ATTNSCOPE_SOURCE_DIR "/tests/data/gpu/h200_placing.jsonl");
  const DeviceSpec spec = shipped_h200();
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json["what"] != "order") continue;
    const int64_t resident = json["shared"] == 0 ? 32 : 2, grid = json["grid"];
    auto recorded = json["sm_of_cta"].get<std::vector<int64_t>>();
    recorded.resize(static_cast<size_t>(std::min(grid, resident * spec.sms)));
    std::vector<int64_t> modelled;
    for (const int64_t place : first_places(spec, resident, grid).in_order()) modelled.push_back(place % spec.sms);
    modelled.resize(recorded.size());
    EXPECT_EQ(by_sm(modelled, spec.sms), by_sm(recorded, spec.sms)) << resident;
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

// As recorded in the same file for 132 and 264 CTAs.
TEST(FirstPlaces, NoSmGetsMoreThanItsShare) {
  for (const int64_t resident : {1, 2, 7, 32})
    for (const int64_t ctas : {1, 100, 132, 133, 198, 264, 500, 5000}) {
      const FirstPlaces first = first_places(shipped_h200(), resident, ctas);
      std::vector<int64_t> on(132);
      const std::vector<int64_t> order = first.in_order();
      for (size_t cta = 0; cta < std::min(order.size(), static_cast<size_t>(ctas)); ++cta)
        ++on[static_cast<size_t>(order[cta] % 132)];
      EXPECT_LE(std::ranges::max(on), std::min(resident, (ctas + 131) / 132)) << resident << " " << ctas;
    }
}

// A kernel's CTAs 0 and 80 have most of the work; an SM of two places gets both.
TEST(FirstPlaces, DecideWhichSmHasMost) {
  const KernelSchedule s = traced({{0, 9}, {1, 1}});
  const DeviceSpec spec = shipped_h200();
  const Dispatched out = dispatch(s, grid(16, 16), first_places(spec, 2, 256));
  EXPECT_EQ(out.sms.front().work, 18);
  DeviceSpec even = spec;
  even.rates.erase("ahead_sms");
  EXPECT_LT(dispatch(s, grid(16, 16), first_places(even, 2, 256)).sms.front().work, 18);
}

}  // namespace
}  // namespace attnscope::model
