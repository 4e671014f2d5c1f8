#include "model/assumed_rates.h"

#include <gtest/gtest.h>

#include "model/dispatch.h"
#include "model/machine.h"
#include "model/rates.h"
#include "unit/model/devices_for_tests.h"

namespace attnscope::model {
namespace {

TEST(AssumedRates, AreWhatTheModelUsesWhereTheSpecHasNone) {
  DeviceSpec spec = l4();
  spec.rates = {{rates::kFp32.name, 100}};
  spec.sources = {{"rates/fp32", "measured"}};
  const DeviceSpec complete = with_assumed_rates(spec);
  EXPECT_EQ(complete.rates.at(rates::kFp32.name), 100);
  EXPECT_EQ(complete.sources.at("rates/fp32"), "measured");
  for (const rates::Rate* rate : rates::kAll) {
    ASSERT_TRUE(complete.rates.contains(rate->name)) << rate->name;
    EXPECT_EQ(complete.rates.at(rate->name), rates::rate(spec, *rate)) << rate->name;
    if (rate == &rates::kFp32) continue;
    EXPECT_TRUE(complete.sources.at(std::string("rates/") + rate->name).starts_with(kAssumed));
  }
}

TEST(AssumedRates, DoNotChangeWhatTheModelSays) {
  const DeviceSpec spec = l4(), complete = with_assumed_rates(spec);
  EXPECT_FALSE(spec.rates.contains(rates::kMma16816));
  EXPECT_EQ(Machine::tensor_clocks(spec), Machine::tensor_clocks(complete));
  EXPECT_EQ(rates::tensor_clock_mhz(spec), rates::tensor_clock_mhz(complete));
  for (const int64_t resident : {1, 2, 3}) {
    const FirstPlaces one = first_places(spec, resident, 500), other = first_places(complete, resident, 500);
    EXPECT_EQ(one.ahead, other.ahead);
    EXPECT_EQ(one.next_after, other.next_after);
  }
  EXPECT_EQ(with_assumed_rates(complete), complete);
}

TEST(AssumedRates, WhereNothingTakesARatesPlaceItHasOnlyASource) {
  const DeviceSpec complete = with_assumed_rates(l4());
  EXPECT_FALSE(complete.rates.contains(rates::kAheadThird));
  EXPECT_TRUE(complete.sources.at(std::string("rates/") + rates::kAheadThird).starts_with(kAssumed));
  EXPECT_EQ(complete.rates.at(rates::kAheadSms), 0);
  EXPECT_TRUE(may_be_zero(rates::kAheadSms));
  EXPECT_FALSE(may_be_zero(rates::kFp32.name));
}

}  // namespace
}  // namespace attnscope::model
