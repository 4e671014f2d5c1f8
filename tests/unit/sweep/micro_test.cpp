#include "sweep/micro.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/clocked_fragment.h"
#include "catalog/devices.h"
#include "catalog/validate.h"

namespace attnscope::sweep {
namespace {

const std::filesystem::path kTree = ATTNSCOPE_SOURCE_DIR;

Kernel a_fragment(const std::string& id, const std::string& when = "1") {
  Kernel kernel;
  kernel.id = id;
  kernel.fragment.emplace().stands = {{"k", when}};
  for (const char* name : {"M", "WIDE"}) kernel.knobs.push_back({name, {}, 1, ""});
  return kernel;
}

// A job of kernel k.
Config config(std::map<std::string, int64_t> knobs) {
  Config made;
  made.knobs = std::move(knobs);
  return made;
}

MicroRow row(const Kernel& kernel, std::map<std::string, int64_t> knobs, double clocks, double work) {
  MicroRow made{&kernel, config(std::move(knobs)), {}, work};
  made.cycles.median = clocks;
  return made;
}

std::vector<Config> fewest(const std::vector<Kernel>& micros, const std::vector<MicroRow>& rows,
                           const std::vector<Config>& configs, size_t most = 8, const std::string& id = "k") {
  Kernel kernel;
  kernel.id = id;
  for (const auto& [name, value] : configs.front().knobs) kernel.knobs.push_back({name, {}, value, ""});
  auto found = fewest_clocks(micros, rows, kernel, Problem{}, configs, most);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : std::vector<Config>{};
}

TEST(FewestClocks, AConfigTakesTheClocksOfAllItsFragmentsForTheirWork) {
  const std::vector<Kernel> micros{a_fragment("product"), a_fragment("copy")};
  const Kernel &product = micros[0], &copy = micros[1];
  const std::vector<MicroRow> rows{row(product, {{"M", 16}}, 160, 16), row(product, {{"M", 32}}, 160, 32),
                                   row(copy, {{"M", 16}, {"WIDE", 1}}, 64, 16),
                                   row(copy, {{"M", 32}, {"WIDE", 1}}, 640, 32),
                                   row(copy, {{"M", 32}, {"WIDE", 2}}, 32, 32)};
  // Clocks for one unit of work: M 16 takes 10 + 4, M 32 takes 5 + 1 with the wide copy and 5 + 20 without.
  const std::vector<Config> two{config({{"M", 16}, {"WARPS", 4}}), config({{"M", 32}, {"WARPS", 4}})};
  EXPECT_EQ(fewest(micros, rows, two), (std::vector{two[1], two[0]})) << "WIDE is no knob of k: its best counts";
  const std::vector<Config> narrow{config({{"M", 32}, {"WIDE", 1}}), config({{"M", 16}, {"WIDE", 1}})};
  EXPECT_EQ(fewest(micros, rows, narrow), (std::vector{narrow[1], narrow[0]}));
  EXPECT_EQ(fewest(micros, rows, narrow, 1), std::vector{narrow[1]});
  EXPECT_TRUE(fewest(micros, rows, two, 8, "another").empty()) << "no fragment stands for it";
}

TEST(FewestClocks, AConfigWithoutARowOfAFragmentIsLeftOut) {
  const std::vector<Kernel> micros{a_fragment("product"), a_fragment("copy")};
  std::vector<MicroRow> rows{row(micros[0], {{"M", 16}}, 1, 1), row(micros[0], {{"M", 32}}, 1, 1)};
  const std::vector<Config> all{config({{"M", 16}}), config({{"M", 32}}), config({{"M", 64}})};
  EXPECT_TRUE(fewest(micros, rows, all).empty()) << "nothing of copy is known";
  rows.push_back(row(micros[1], {{"M", 32}}, 1, 1));
  EXPECT_EQ(fewest(micros, rows, all), std::vector{all[1]});
}

TEST(FewestClocks, AFragmentCountsWhereItsConditionHolds) {
  const std::vector<Kernel> micros{a_fragment("product", "WIDE == 1 && SPLIT == 1 && seq_q > 0")};
  const std::vector<MicroRow> rows{row(micros[0], {{"M", 16}, {"WIDE", 1}}, 9, 1),
                                   row(micros[0], {{"M", 16}, {"WIDE", 2}}, 1, 1),
                                   row(micros[0], {{"M", 32}, {"WIDE", 1}}, 5, 1)};
  const std::vector<Config> all{config({{"M", 16}, {"SPLIT", 1}}), config({{"M", 32}, {"SPLIT", 1}}),
                                config({{"M", 32}, {"SPLIT", 2}})};
  EXPECT_EQ(fewest(micros, rows, all), (std::vector{all[1], all[0]}));
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
    for (const auto& [id, when] : micro.fragment->stands) {
      const Kernel* stood_for = find_kernel(shipped.kernels, id);
      ASSERT_NE(stood_for, nullptr) << id;
      EXPECT_TRUE(std::ranges::any_of(micro.knobs, [&](const Knob& knob) { return stood_for->find_knob(knob.name); }))
          << id;
    }
    // A part of the problem consists of the configs that have its head_dim.
    const auto held = catalog::complete_config(micro, {}, micro.options);
    ASSERT_TRUE(held) << held.error().message;
    problem.head_dim = 64;
    const auto asked = micro_search(micro, *held, {}, problem, *device);
    ASSERT_TRUE(asked) << asked.error().message;
    EXPECT_GE(asked->candidates.configs.size(), 14u);
    for (const auto& [id, when] : micro.fragment->stands) {
      const Kernel& stood_for = *find_kernel(shipped.kernels, id);
      const auto its = catalog::complete_config(stood_for, {}, stood_for.options);
      ASSERT_TRUE(its) << its.error().message;
      const auto stands = catalog::fragment_stands(micro, *held, stood_for, problem, *its);
      EXPECT_TRUE(stands) << stands.error().message;
    }
    problem.dtype = DType::bf16;
    EXPECT_TRUE(micro_search(micro, *held, {}, problem, *device)->candidates.configs.empty()) << "they are of halves";
    problem.dtype = DType::f16;
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
