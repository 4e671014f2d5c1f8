// Bounds that a modelled time must keep, with any knobs, mask, sizes and device: 10,000 times and more of random
// configs of the rungs (a part of them where the tests run once), and those for which a model once gave more than the
// board has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench_of_one.h"
#include "model/ceilings.h"
#include "model/dispatch.h"
#include "model/rates.h"
#include "model/roofline.h"

namespace attnscope::kernel_tests {
namespace {

std::vector<std::string> random_settings(const Kernel& kernel, std::mt19937_64& random) {
  std::vector<std::string> settings;
  for (const Knob& knob : kernel.knobs)
    settings.push_back(knob.name + "=" + knob.values[random() % knob.values.size()].text());
  return settings;
}

// One config and one length, with a mask and without.
struct Pair {
  Ran all, masked;
};

void hold_ceilings(const Counted& of, const DeviceSpec& spec, double us, const std::string& name) {
  EXPECT_GE(us, model::ceilings(spec, of.problem, of.counters, of.schedule).highest()) << name;
  EXPECT_LT(model::tflops(of.problem, us), spec.tensor_tflops_f16) << name;
}

// The split of a time: it sums to it, and little is unexplained.
double split_us(const model::Modelled& of, const std::string& name) {
  double unexplained = 0;
  for (const model::Stall& stall : of.stalls) {
    EXPECT_GT(stall.time, 0) << name;
    if (stall.term == TermKind::other) unexplained += stall.time;
  }
  EXPECT_NEAR(model::sum_of(of.stalls), of.timing.p50, 1e-6 * of.timing.p50) << name;
  EXPECT_LE(unexplained, 0.05 * of.timing.p50) << name;
  return of.timing.p50;
}

// The largest instruction count of a CTA.
double longest_cta(const Counted& of) { return std::ranges::max(model::instructions_of(of.schedule)); }

// `times` grids of a pair as one launch, on whatever device.
struct Grids {
  Counted all, masked;
  std::string name;
};

Grids grids_of(const Pair& pair, const std::vector<std::string>& settings, int64_t times) {
  return {
      counted(pair.all, settings, times), counted(pair.masked, settings, times),
      fmt::format("{} {} x{} {}", pair.all.kernel.id, short_text(pair.all.problem), times, fmt::join(settings, " "))};
}

// Returns the two times, not causal and causal; 0 where a CTA does not fit. `cost_of_mask`: hold also that a mask costs
// no more than the instructions that it adds, which is not so of every config (masked code is a program of its own).
std::array<double, 2> hold(const Grids& grids, const DeviceSpec& spec, bool cost_of_mask) {
  const auto& [all, masked, named] = grids;
  const std::string name = spec.id + " " + named;
  const Occupancy fits = model::occupancy(spec, all.info, all.launch),
                  fits_masked = model::occupancy(spec, masked.info, masked.launch);
  if (fits.ctas_per_sm == 0 || fits_masked.ctas_per_sm == 0) return {};
  const double us = split_us(modelled(all, spec), name), masked_us = split_us(modelled(masked, spec), name);
  hold_ceilings(all, spec, us, name);
  hold_ceilings(masked, spec, masked_us, name + " causal");
  // A mask saves at most its share of the work, and instructions differ in cost. With equal CTAs the last wave may be
  // nearly empty, and a mask fills it.
  const double share = double(masked.counters.instructions.at("total")) / double(all.counters.instructions.at("total"));
  const double launch = model::rates::rate(spec, model::rates::kLaunchUs), full = fits.waves / std::ceil(fits.waves);
  if (fits.ctas_per_sm == fits_masked.ctas_per_sm) {
    EXPECT_GT(masked_us - launch, 0.8 * (us - launch) * full * share) << name;
    // It costs no more than what it adds to the longest CTA.
    if (cost_of_mask) {
      EXPECT_LT(masked_us, 1.1 * us * std::max({1.0, share, longest_cta(masked) / longest_cta(all)})) << name;
    }
  }
  return {us, masked_us};
}

// One seed's configs of one rung.
struct Part {
  const char* kernel;
  unsigned number;
};

constexpr std::array kRungs{"minimal", "tiled", "scalar", "wmma", "mma", "cute"};
constexpr unsigned kParts = 20, kAlways = 2;  // of a rung; those without --full
constexpr int kLeast = 100;                   // modelled times in a part
static_assert((kRungs.size() - 1) * kParts * kLeast >= 10'000, "without the rung that needs CUTLASS");

// Primes, so that the last tile of each is cut.
constexpr std::array<std::array<int64_t, 2>, 4> kLengths{{{79, 163}, {97, 211}, {131, 283}, {61, 367}}};

// Of a batch. The model takes longest for the largest, so they are rare.
std::vector<int64_t> random_sizes(std::mt19937_64& random) {
  std::vector<int64_t> sizes{1};
  const int64_t most = random() % 8 == 0 ? 1024 : 128;
  for (int64_t least = 2; least < most; least *= 8) sizes.push_back(least + int64_t(random() % uint64_t(7 * least)));
  return sizes;
}

class PhysicsOf : public testing::TestWithParam<Part> {};

TEST_P(PhysicsOf, HoldsForRandomConfigs) {
  const auto [kernel, number] = GetParam();
  std::mt19937_64 random(7 + number);
  auto first = run({kernel, "B=1,H=1,S=1,D=64", {}});
  if (!first && !have_headers(kernel)) GTEST_SKIP() << first.error().message;
  ASSERT_TRUE(first) << first.error().message;
  const std::vector<int64_t>& dims = first->kernel.supports.head_dims;
  const int64_t dim = dims[number % dims.size()];
  const bool always = number < kAlways;
  int held = 0;
  for (int tried = 0; held < kLeast && tried < 400; ++tried) {
    const std::vector<std::string> settings = random_settings(first->kernel, random);
    const auto pair_of = [&](int64_t length) -> std::optional<Pair> {
      const std::string problem = fmt::format("B=1,H=1,S={},D={}", length, dim);
      auto all = run({kernel, problem, settings}), masked = run({kernel, problem + ",causal=bottom_right", settings});
      if (!all || !masked) return std::nullopt;
      return Pair{std::move(*all), std::move(*masked)};
    };
    const auto lengths = kLengths[random() % kLengths.size()];
    const auto shorter = pair_of(lengths[0]);
    if (!shorter) continue;  // the knobs do not go together
    const auto longer = pair_of(lengths[1]);
    ASSERT_TRUE(longer);
    for (const int64_t times : random_sizes(random)) {
      const Grids shorter_grids = grids_of(*shorter, settings, times),
                  longer_grids = grids_of(*longer, settings, times);
      for (const DeviceSpec& spec : device_specs()) {
        const auto few = hold(shorter_grids, spec, always), many = hold(longer_grids, spec, always);
        for (const size_t causal : {0U, 1U}) {  // 2 % slack for scheduling
          EXPECT_GE(1.02 * many[causal], few[causal]) << spec.id << " " << longer_grids.name;
          held += (few[causal] > 0 ? 1 : 0) + (many[causal] > 0 ? 1 : 0);
        }
      }
    }
  }
  RecordProperty("figures", held);
  fmt::print("{} modelled times\n", held);
  EXPECT_GE(held, kLeast);
}

std::vector<Part> parts(unsigned from, unsigned to) {
  std::vector<Part> made;
  for (const char* kernel : kRungs)
    for (unsigned number = from; number < to; ++number) made.push_back({kernel, number});
  return made;
}

std::string name_of(const testing::TestParamInfo<Part>& one) {
  return fmt::format("{}_{}", one.param.kernel, one.param.number);
}

INSTANTIATE_TEST_SUITE_P(Rungs, PhysicsOf, testing::ValuesIn(parts(0, kAlways)), name_of);
INSTANTIATE_TEST_SUITE_P(MoreRungs, PhysicsOf, testing::ValuesIn(parts(kAlways, kParts)), name_of);

// An L4 has 121 TFLOP/s: these were 130 and 243.
TEST(Physics, ACausalGridOfManyWavesStaysUnderTheBoardsPeak) {
  const DeviceSpec l4 = device_spec("emulated:l4");
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"B=1,H=1,S=2048,D=64,causal=bottom_right", {}}, {"B=1,H=1,S=2048,D=128,causal=bottom_right", {"BLOCK_M=64"}}};
  for (const auto& [problem, settings] : cases) {
    auto ran = run({"mma", problem, settings});
    ASSERT_TRUE(ran) << ran.error().message;
    for (const int64_t times : {8, 16, 64}) {
      const Counted of = counted(*ran, settings, times);
      hold_ceilings(of, l4, modelled(of, l4).timing.p50, fmt::format("{} x{}", problem, times));
    }
  }
}

// With CTAs of 128 rows of D = 128 the mask made it slower, because all its loads were taken to miss the first level.
TEST(Physics, AMaskMakesWmmaNoSlower) {
  const std::vector<std::string> settings{"BLOCK_M=64", "NUM_WARPS=4"};
  auto all = run({"wmma", "B=1,H=1,S=1024,D=128", settings});
  auto masked = run({"wmma", "B=1,H=1,S=1024,D=128,causal=bottom_right", settings});
  ASSERT_TRUE(all && masked);
  const auto us = hold(grids_of({std::move(*all), std::move(*masked)}, settings, 64), device_spec("emulated:l4"), true);
  EXPECT_LT(us[1], 0.75 * us[0]) << "half of the work";
}

}  // namespace
}  // namespace attnscope::kernel_tests
