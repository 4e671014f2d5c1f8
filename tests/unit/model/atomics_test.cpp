// The rule for atomics of global memory against what an H200 took for additions to random words (docs/model.md).
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "model/ceilings.h"
#include "model/machine.h"
#include "support/temp_dir.h"
#include "unit/model/devices_for_tests.h"

namespace attnscope::model {
namespace {

constexpr int kRequests = 4000, kSms = 132;

struct Turns {  // of a request, and of all requests at the busiest places
  double own = 0;
  HotSpots hottest;
};
Turns random_turns(uint32_t bins) {
  std::mt19937 random(5);
  std::map<uint32_t, double> sectors, pieces;
  Turns turns;
  for (int request = 0; request < kRequests; ++request) {
    std::map<uint32_t, uint32_t> words, most;
    for (int lane = 0; lane < 32; ++lane) ++words[static_cast<uint32_t>(random()) % bins];
    for (const auto& [word, lanes] : words) most[word / 8] = std::max(most[word / 8], lanes);
    for (const auto& [sector, lanes] : most) {
      turns.own += lanes;
      turns.hottest.sector = std::max(turns.hottest.sector, sectors[sector] += lanes);
      turns.hottest.piece = std::max(turns.hottest.piece, pieces[sector / 16] += lanes);
    }
  }
  turns.own /= kRequests;
  return turns;
}

TEST(Atomics, OfRandomWordsTakeAboutWhatAnH200Takes) {
  const std::string text = testing_support::read_text(ATTNSCOPE_SOURCE_DIR "/tests/data/gpu/h200_atomics.txt");
  DeviceSpec spec = h200();
  const std::pair<uint32_t, std::array<double, 2>> kRatios[] = {
      {1, {1.00, 1.00}},   {2, {1.06, 1.06}},    {8, {1.37, 1.30}},      {64, {0.95, 0.95}},
      {256, {0.75, 0.75}}, {4096, {0.63, 0.64}}, {1 << 20, {1.00, 1.00}}};
  for (const auto& [bins, ratios] : kRatios) {
    Turns turns = random_turns(bins);
    for (const bool floating : {false, true}) {
      turns.hottest.floating = floating;
      const double all =
          std::max(atomics_clocks(spec, turns.hottest) / kRequests * kSms, turns.own * Machine(spec).turn_of(kSms));
      const std::string line =
          fmt::format("global random {} ctas 132 warps 32 bins {} clocks ", floating ? "f32" : "u32", bins);
      const size_t at = text.find(line);
      ASSERT_NE(at, std::string::npos) << line;
      EXPECT_NEAR(all / std::stod(text.substr(at + line.size())), ratios[floating], 0.04) << line;
    }
  }
}

}  // namespace
}  // namespace attnscope::model
