#include "sweep/micro.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "catalog/validate.h"

namespace attnscope::sweep {
namespace {

const std::filesystem::path kTree = ATTNSCOPE_SOURCE_DIR;

Kernel a_fragment(const std::string& id, const std::vector<std::string>& stands) {
  Kernel kernel;
  kernel.id = id;
  kernel.fragment.emplace().stands = stands;
  return kernel;
}

MicroRow row(const Kernel& kernel, std::map<std::string, int64_t> knobs, double clocks, double work) {
  MicroRow made{&kernel, {}, {}, work};
  made.config.knobs = std::move(knobs);
  made.cycles.median = clocks;
  return made;
}

Config config(std::map<std::string, int64_t> knobs) {
  Config made;
  made.knobs = std::move(knobs);
  return made;
}

TEST(FewestClocks, AConfigTakesTheClocksOfAllItsFragmentsForTheirWork) {
  const Kernel product = a_fragment("product", {"k"}), copy = a_fragment("copy", {"k", "other"});
  const std::vector<MicroRow> rows{row(product, {{"M", 16}}, 160, 16), row(product, {{"M", 32}}, 160, 32),
                                   row(copy, {{"M", 16}, {"WIDE", 1}}, 64, 16),
                                   row(copy, {{"M", 32}, {"WIDE", 1}}, 640, 32),
                                   row(copy, {{"M", 32}, {"WIDE", 2}}, 32, 32)};
  // Clocks for one unit of work: M 16 takes 10 + 4, M 32 takes 5 + 1 with the wide copy and 5 + 20 without.
  const std::vector<Config> two{config({{"M", 16}, {"WARPS", 4}}), config({{"M", 32}, {"WARPS", 4}})};
  EXPECT_EQ(fewest_clocks(rows, "k", two, 8), (std::vector{two[1], two[0]})) << "WIDE is no knob of k: its best counts";
  const std::vector<Config> narrow{config({{"M", 32}, {"WIDE", 1}}), config({{"M", 16}, {"WIDE", 1}})};
  EXPECT_EQ(fewest_clocks(rows, "k", narrow, 8), (std::vector{narrow[1], narrow[0]}));
  EXPECT_EQ(fewest_clocks(rows, "k", narrow, 1), std::vector{narrow[1]});
  EXPECT_TRUE(fewest_clocks(rows, "unknown", two, 8).empty()) << "no fragment stands for it";
}

TEST(FewestClocks, AConfigWithoutARowOfAFragmentIsLeftOut) {
  const Kernel product = a_fragment("product", {"k"}), copy = a_fragment("copy", {"k"});
  const std::vector<MicroRow> rows{row(product, {{"M", 16}}, 1, 1), row(product, {{"M", 32}}, 1, 1),
                                   row(copy, {{"M", 32}}, 1, 1)};
  const std::vector<Config> all{config({{"M", 16}}), config({{"M", 32}}), config({{"M", 64}})};
  EXPECT_EQ(fewest_clocks(rows, "k", all, 8), std::vector{all[1]});
}

TEST(MicroKernels, StandForKernelsThatShipAndShareTheirKnobs) {
  const auto micros = micro_kernels(kTree);
  ASSERT_TRUE(micros) << micros.error().message;
  EXPECT_EQ(micros->size(), 6u);
  const catalog::Catalog shipped = catalog::load_catalog({kTree / "kernels"});
  const auto device = catalog::load_device(kTree / "assets/devices/l4.json");
  ASSERT_TRUE(device) << device.error().message;
  Problem problem;
  for (const Kernel& micro : *micros) {
    SCOPED_TRACE(micro.id);
    ASSERT_TRUE(micro.fragment);
    ASSERT_FALSE(micro.fragment->stands.empty());
    for (const std::string& id : micro.fragment->stands) {
      const Kernel* stood_for = find_kernel(shipped.kernels, id);
      ASSERT_NE(stood_for, nullptr) << id;
      EXPECT_TRUE(std::ranges::any_of(micro.knobs, [&](const Knob& knob) { return stood_for->find_knob(knob.name); }))
          << id;
    }
    // A part of the problem are those configs that have its head_dim.
    const auto held = catalog::complete_config(micro, {}, micro.options);
    ASSERT_TRUE(held) << held.error().message;
    problem.head_dim = 64;
    const auto asked = micro_search(micro, *held, {}, problem, *device);
    ASSERT_TRUE(asked) << asked.error().message;
    EXPECT_GE(asked->candidates.configs.size(), 14u);
    problem.head_dim = 4096;
    const auto none = micro_search(micro, *held, {}, problem, *device);
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_EQ(none->candidates.configs.empty(), micro.find_knob("HEAD_DIM") != nullptr);
  }
}

TEST(MicroRows, OnlyACorrectRunWithClocksIsOne) {
  const auto micros = micro_kernels(kTree);
  ASSERT_TRUE(micros) << micros.error().message;
  const Kernel& micro = micros->front();
  const auto held = catalog::complete_config(micro, {}, micro.options);
  ASSERT_TRUE(held);
  Observation run;
  run.timing.emplace().p50 = 5;
  run.verdict.emplace().state = VerdictState::correct;
  EXPECT_FALSE(*micro_row(micro, *held, run)) << "it has no clocks";
  run.fragment_cycles = FragmentCycles{FigureKind::measured, 1, 90, 100, 110};
  auto found = micro_row(micro, *held, run);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->cycles.median, 100);
  EXPECT_GT((*found)->work, 1);
  run.verdict->state = VerdictState::wrong;
  EXPECT_FALSE(*micro_row(micro, *held, run));
}

}  // namespace
}  // namespace attnscope::sweep
