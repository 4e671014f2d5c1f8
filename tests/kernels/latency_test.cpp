// The latency model on the shipped rungs, counted here: compared with an H200's time for the same machine code, and
// with the order of the reports' rows on an L4.
#include "model/latency.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench_of_one.h"
#include "core/json.h"
#include "core/observation.h"
#include "device/terms.h"
#include "model/ceilings.h"

namespace attnscope::kernel_tests {
namespace {

TEST(LatencyModel, HoldsWhatAnH200Took) {
  const Json recorded = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/tests/data/model/h200_times.json"));
  const DeviceSpec h200 = device_spec("emulated:h200");
  double worst = 1;
  int held = 0, inside = 0, matching = 0;
  for (const Json& row : recorded["rows"]) {
    if (row["batch"] != 1) continue;
    const Case named{row["kernel"], "B=1,H=8,S=512,D=64", row["settings"], true, 90};
    auto variant = compile(named);
    ASSERT_TRUE(variant) << variant.error().message;
    if ((*variant)->info.code_hash != row["code_hash"] || matching++ % (3 * ATTNSCOPE_CASE_STRIDE) != 0)
      continue;  // a third is enough here
    auto ran = run(named);
    ASSERT_TRUE(ran) << text_of(named) << ": " << ran.error().message;
    const Timing timing = modelled(counted(*ran, named.settings), h200).timing;
    const double us = row["us"];
    EXPECT_NEAR(timing.p50 / us, 1, 0.15) << text_of(named);
    inside += timing.interval_low <= us && us <= timing.interval_high ? 1 : 0;
    worst = std::max({worst, us / timing.p50, timing.p50 / us});
    ++held;
  }
  if (held == 0) GTEST_SKIP() << "this NVRTC makes other machine code than the recording's";
  // The bars hold four of five times over all kernels; these are nearly all of one kernel, whose times are modelled up
  // to 8 % too long, while most others are modelled too short.
  if (ATTNSCOPE_CASE_STRIDE == 1) {
    EXPECT_GE(inside, 0.3 * held);
  }
  RecordProperty("rows", held);
  RecordProperty("worst_ratio", std::to_string(worst));
}

// A recording is valid as long as the compiler makes its machine code: a knob at its default, or a comment, does not
// change it.
TEST(LatencyModel, TheRecordedCodeIsStillMade) {
  const Json recorded = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/tests/data/model/h200_times.json"));
  for (const Json& settings : {Json::array({"NUM_WARPS=4"}), Json::array({"SWIZZLE_XOR=1", "NUM_WARPS=8"}),
                               Json::array({"BLOCK_M=48", "NUM_WARPS=4"})}) {
    auto variant = compile({"tiled", "B=1,H=8,S=512,D=64", settings, true, 90});
    ASSERT_TRUE(variant) << variant.error().message;
    if (!recorded["compiled"].get<std::string>().starts_with((*variant)->info.compiler))
      GTEST_SKIP() << "the recording is of another NVRTC";
    const bool held = std::ranges::any_of(recorded["rows"], [&](const Json& row) {
      return row["kernel"] == "tiled" && row["settings"] == settings && row["code_hash"] == (*variant)->info.code_hash;
    });
    EXPECT_TRUE(held) << settings.dump();
  }
}

// A warp makes up to 266,000 jumps; B2 H8 with as many rows as keys.
TEST(LatencyModel, LongerLoopsTakeLonger) {
  const DeviceSpec l4 = device_spec("emulated:l4");
  double shorter = 0;
  for (const int64_t length : {1024, 1536, 2048}) {
    auto ran = run({.kernel = "rolled",
                    .problem = fmt::format("B=1,H=1,seq_q=64,seq_k={},D=64", length),
                    .settings = {},
                    .folder = "tests/kernels/long"});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct);
    Counted of = counted(*ran, {}, 16 * length / 64);
    of.problem = *problem_from_text(fmt::format("B=2,H=8,S={},D=64", length));
    const model::Modelled made = modelled(of, l4);
    EXPECT_FALSE(made.stalls.empty()) << length;
    EXPECT_GE(made.timing.p50, model::ceilings(l4, of.problem, of.counters, of.schedule).highest()) << length;
    if (shorter > 0) {
      const double longer = double(length * length) / double((length - 512) * (length - 512));
      EXPECT_GT(made.timing.p50, 0.7 * longer * shorter) << length;
      EXPECT_LT(made.timing.p50, 1.4 * longer * shorter) << length;
    }
    shorter = made.timing.p50;
  }
}

// Nine of these CTAs fit on an SM. An H200 takes 2,987 us for eleven an SM (bench/results/model_sixth_h200.json): as
// long as for nine and then for two, each of which has as much to wait for as one by itself.
TEST(LatencyModel, ALastWaveIsNoShareOfAWholeOne) {
  const std::vector<std::string> settings{"BLOCK_M=16",       "BLOCK_N=64",      "NUM_WARPS=1",
                                          "VEC_WIDTH=4",      "SYNC_POLICY=cta", "SWIZZLE_XOR=1",
                                          "REDUCE_WARP=warp", "SHARED=dynamic",  "SO_TYPE=f16"};
  const DeviceSpec h200 = device_spec("emulated:h200");
  auto ran = run({"tiled", "B=1,H=1,seq_q=16,seq_k=1056,D=64", settings, true, 90});
  ASSERT_TRUE(ran) << ran.error().message;
  const auto us = [&](int64_t heads) {
    Counted of = counted(*ran, settings, 66 * heads);
    of.problem = *problem_from_text(fmt::format("B=1,H={},S=1056,D=64", heads));
    return modelled(of, h200).timing.p50;
  };
  const double wave = us(18), two = us(4);
  EXPECT_GT(two, 0.8 * wave) << "a warp waits most of the time";
  EXPECT_GT(us(22), wave + 0.9 * two);
  EXPECT_NEAR(us(22) / 2987, 1, 0.15);
}

double on_l4(const std::string& kernel, const std::vector<std::string>& settings) {
  auto ran = run({kernel, "B=1,H=8,S=512,D=64", settings});
  EXPECT_TRUE(ran) << ran.error().message;
  return ran ? modelled(counted(*ran, settings), device_spec("emulated:l4")).timing.p50 : 0;
}

// Reported: minimal 2870 us, then M32 with 4, 6 and 8 warps 1029.64, 952.97 and 839.38 us.
TEST(LatencyModel, OrdersTheReportsRowsAsTheL4Did) {
  const double minimal = on_l4("minimal", {});
  const double four = on_l4("tiled", {"NUM_WARPS=4"}), six = on_l4("tiled", {"NUM_WARPS=6"}),
               eight = on_l4("tiled", {"NUM_WARPS=8"});
  RecordProperty("us", fmt::format("{:.0f} {:.0f} {:.0f} {:.0f}", minimal, four, six, eight));
  EXPECT_GT(minimal, four);
  EXPECT_GT(four, six);
  EXPECT_GT(six, eight);
}

// tests/data/model/terms_mma_l4.json: attnscope run --kernel mma --device emulated:l4 --json
TEST(LatencyModel, SplitsTheTimeAsRecorded) {
  const Json json = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/tests/data/model/terms_mma_l4.json"));
  const auto recorded = observation_from_json(json, "terms_mma_l4.json");
  ASSERT_TRUE(recorded) << recorded.error().message;
  ASSERT_TRUE(recorded->timing && recorded->timing->terms);
  const Terms& before = *recorded->timing->terms;
  double terms = 0, phases = 0;
  for (const Term& term : before.list) terms += term.us;
  for (const Phase& phase : before.phases) phases += phase.us;
  EXPECT_NEAR(terms, recorded->timing->p50, 1e-6);
  EXPECT_NEAR(phases, recorded->timing->p50, 1e-6);
  auto ran = run({"mma", "B=1,H=8,S=512,D=64", {}});
  ASSERT_TRUE(ran) << ran.error().message;
  if (ran->variant->info.code_hash != recorded->variant->code_hash)
    GTEST_SKIP() << "this NVRTC makes other machine code than the recording's";
  const model::Modelled now = modelled(counted(*ran, {}), device_spec("emulated:l4"));
  EXPECT_NEAR(now.timing.p50, recorded->timing->p50, 1e-6);
  const Terms after = device::terms_of(now.stalls, *ran->outcome.emulated->program, SourcePieces(ran->kernel.source),
                                       SourceLines(ran->kernel.source_name));
  ASSERT_EQ(after.list.size(), before.list.size());
  for (size_t i = 0; i < after.list.size(); ++i) {
    EXPECT_EQ(after.list[i].kind, before.list[i].kind);
    EXPECT_NEAR(after.list[i].us, before.list[i].us, 1e-6);
    ASSERT_EQ(after.list[i].lines.size(), before.list[i].lines.size());
    for (size_t l = 0; l < after.list[i].lines.size(); ++l)
      EXPECT_EQ(after.list[i].lines[l].address, before.list[i].lines[l].address);
  }
  ASSERT_EQ(after.phases.size(), before.phases.size());
  for (size_t i = 0; i < after.phases.size(); ++i) EXPECT_EQ(after.phases[i].name, before.phases[i].name);
}

}  // namespace
}  // namespace attnscope::kernel_tests
