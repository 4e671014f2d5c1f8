// Bounds that a modelled time must keep, with any knobs, mask, sizes and device: 10,000 times and more of random
// configs of the rungs (a part of them where the tests run once), and those for which a model once gave more than the
// board has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench_of_one.h"
#include "lone_cta.h"
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
void hold_split(const model::Modelled& of, const std::string& name) {
  double unexplained = 0;
  for (const model::Stall& stall : of.stalls) {
    EXPECT_GT(stall.time, 0) << name;
    if (stall.term == TermKind::other) unexplained += stall.time;
  }
  EXPECT_NEAR(model::sum_of(of.stalls), of.timing.p50, 1e-6 * of.timing.p50) << name;
  EXPECT_LE(unexplained, 0.05 * of.timing.p50) << name;
}

// The largest instruction count of a CTA.
double longest_cta(const Counted& of) { return std::ranges::max(model::instructions_of(of.schedule)); }

double instructions(const Counted& of) { return double(of.counters.instructions.at("total")); }

// Wavefronts of shared memory and lines of the first level, which pass an SM one after the other.
double passes(const Counted& of) {
  double sum = 0;
  for (const model::ScheduledInstruction& one : of.schedule.code) sum += double(one.issued) * double(one.passes);
  return sum;
}

// CTAs of an SM if all SMs get equally many.
double even_share(const Counted& of, const DeviceSpec& spec) {
  return std::ceil(double(of.launch.ctas()) / double(spec.sms));
}

// The largest sum of clocks, given for each traced CTA, of the CTAs that an SM gets.
double busiest_sm(const Counted& of, const Occupancy& fits, const DeviceSpec& spec, const std::vector<double>& clocks) {
  const model::FirstPlaces first = model::first_places(spec, fits.ctas_per_sm, of.launch.ctas());
  double most = 0;
  for (const model::DispatchedSm& sm : model::dispatch(of.schedule, of.launch, first).sms) {
    double sum = 0;
    for (const uint32_t trace : sm.ctas) sum += clocks[trace];
    most = std::max(most, sm.scale * sum);
  }
  return most;
}

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

// Returns the two times, not causal and causal; 0 where a CTA does not fit.
std::array<double, 2> hold(const Grids& grids, const DeviceSpec& spec) {
  const auto& [all, masked, named] = grids;
  const std::string name = spec.id + " " + named;
  const Occupancy fits = model::occupancy(spec, all.info, all.launch),
                  fits_masked = model::occupancy(spec, masked.info, masked.launch);
  if (fits.ctas_per_sm == 0 || fits_masked.ctas_per_sm == 0) return {};
  const model::Modelled of_all = modelled(all, spec), of_masked = modelled(masked, spec);
  hold_split(of_all, name);
  hold_split(of_masked, name + " causal");
  const double us = of_all.timing.p50, masked_us = of_masked.timing.p50;
  hold_ceilings(all, spec, us, name);
  hold_ceilings(masked, spec, masked_us, name + " causal");
  // No grid is faster than its longest CTA is by itself.
  const double launch = model::rates::rate(spec, model::rates::kLaunchUs);
  const std::vector<double> clocks = lone_cta_clocks(all, spec), clocks_masked = lone_cta_clocks(masked, spec);
  const double lone = std::ranges::max(clocks), lone_masked = std::ranges::max(clocks_masked);
  EXPECT_GT((us - launch) * of_all.timing.clock_mhz, lone) << name;
  EXPECT_GT((masked_us - launch) * of_masked.timing.clock_mhz, lone_masked) << name << " causal";
  if (fits.ctas_per_sm != fits_masked.ctas_per_sm) return {us, masked_us};
  // Code with a mask is a program of its own: its loads may stand closer to what waits for them, or further from it.
  // Its longest CTA, by itself, shows what of that costs time.
  const double share = instructions(masked) / instructions(all), passing = passes(masked) / passes(all);
  const double longest = longest_cta(masked) / longest_cta(all), by_itself = lone_masked / lone;
  const double crowded = busiest_sm(masked, fits_masked, spec, clocks_masked) / (even_share(all, spec) * lone);
  const double full = fits.waves / std::ceil(fits.waves);
  const std::string ratios = fmt::format(
      "{}: instructions x{:.3f}, wavefronts and lines x{:.3f}, instructions of the longest CTA x{:.3f}, its clocks by "
      "itself x{:.3f}, those of an SM's CTAs x{:.3f}",
      name, share, passing, longest, by_itself, crowded);
  // A mask saves at most its share of the work, and instructions differ in cost. With equal CTAs the last wave may be
  // nearly empty, and a mask fills it.
  const double kept = std::min({share, share * by_itself / longest, passing});
  EXPECT_GT(masked_us - launch, 0.8 * (us - launch) * full * kept) << ratios;
  // It costs no more than what it adds: to the grid's work, to the instructions of the longest CTA, to its clocks, or
  // to those of all CTAs of an SM, which the mask may share out less evenly.
  EXPECT_LT(masked_us, 1.1 * us * std::max({1.0, share, passing, longest, by_itself, crowded})) << ratios;
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
        const auto few = hold(shorter_grids, spec), many = hold(longer_grids, spec);
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
  const auto us = hold(grids_of({std::move(*all), std::move(*masked)}, settings, 64), device_spec("emulated:l4"));
  EXPECT_LT(us[1], 0.75 * us[0]) << "half of the work";
}

// With the mask its CTA has no more instructions, but loads stand right before what waits for them.
TEST(Physics, AMaskCostsNoMoreThanItAddsIfItMovesLoads) {
  const std::vector<std::string> settings{"BLOCK_M=64", "BLOCK_N=64", "NUM_WARPS=4",
                                          "ROWS=2",     "STAGES=2",   "VEC_WIDTH=2"};
  auto all = run({"scalar", "B=1,H=1,S=97,D=128", settings});
  auto masked = run({"scalar", "B=1,H=1,S=97,D=128,causal=bottom_right", settings});
  ASSERT_TRUE(all && masked);
  const Grids grids = grids_of({std::move(*all), std::move(*masked)}, settings, 12);
  for (const DeviceSpec& spec : device_specs()) hold(grids, spec);
}

}  // namespace
}  // namespace attnscope::kernel_tests
