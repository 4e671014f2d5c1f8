#include "search/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "catalog/catalog.h"
#include "catalog/choices.h"
#include "catalog/devices.h"
#include "catalog/validate.h"
#include "core/json.h"

namespace attnscope::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

class SpaceTest : public testing::Test {
 protected:
  SpaceTest() : kernel_(*catalog::load_kernel(kSource / "kernels/02_tiled.json")) {
    held_ = *catalog::complete_config(kernel_, {}, {});
    for (DeviceSpec& spec : catalog::load_devices(kSource / "assets/devices").devices)
      if (spec.id == "emulated:l4") l4_ = std::move(spec);
  }
  Result<Space> read(const std::string& text) const {
    return space_from_json(*parse_json(text, "s.json"), kernel_, held_, "s.json");
  }
  // The refusal's message and hint.
  std::string refusal(const std::string& text) const {
    const auto space = read(text);
    if (space) return "taken";
    EXPECT_EQ(space.error().stage, Stage::input);
    return space.error().message + " | " + space.error().hint;
  }

  Kernel kernel_;
  Config held_;
  DeviceSpec l4_;
};

TEST_F(SpaceTest, ReadsKnobsAndValuesAsNumbersOrLabels) {
  const auto space = read(R"({"knobs": {"SYNC_POLICY": ["cta", 0], "BLOCK_M": [32, 16]}})");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_THAT(space->axes, ElementsAre(Axis{"BLOCK_M", {16, 32}}, Axis{"SYNC_POLICY", {0, 5}}))
      << "in the manifest's order";
  EXPECT_EQ(space->size(), 4u);
  const Config config = space->at({1, 0});
  EXPECT_EQ(config.knobs.at("BLOCK_M"), 32);
  EXPECT_EQ(config.knobs.at("SYNC_POLICY"), 0);
  EXPECT_EQ(config.knobs.at("NUM_WARPS"), 4) << "held";
  EXPECT_EQ(to_json(*space, kernel_).dump(), R"({"knobs":{"BLOCK_M":[16,32],"SYNC_POLICY":["none","cta"]}})");
  EXPECT_EQ(read(to_json(*space, kernel_).dump())->axes, space->axes);
}

TEST_F(SpaceTest, ACompilerIsAnAxisByItsWord) {
  const auto space = read(R"({"options": {"compiler": ["nvcc", "nvrtc"]}})");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->at({1}).options.compiler, CompilerChoice::nvcc);
  EXPECT_EQ(to_json(*space, kernel_).at("options").dump(), R"({"compiler":["nvrtc","nvcc"]})");
  EXPECT_EQ(read(to_json(*space, kernel_).dump())->axes, space->axes);
  EXPECT_THAT(refusal(R"({"options": {"compiler": ["clang"]}})"), HasSubstr("nvrtc, nvcc"));
}

TEST_F(SpaceTest, NamesWhatIsWrongInAFile) {
  EXPECT_THAT(refusal(R"({"knobs": {"NUM_WARP": [4]}})"),
              testing::AllOf(HasSubstr("s.json/knobs: tiled has no knob NUM_WARP |"), HasSubstr("NUM_WARPS?")));
  EXPECT_THAT(refusal(R"({"knobs": {"NUM_WARPS": [4, 5]}})"),
              testing::AllOf(HasSubstr("s.json/knobs/NUM_WARPS: "), HasSubstr("5"), HasSubstr("1, 2, 4, 6, 8")));
  EXPECT_THAT(refusal(R"({"knobs": {"SYNC_POLICY": ["grid"]}})"), HasSubstr("grid"));
  EXPECT_THAT(refusal(R"({"knobs": {"NUM_WARPS": []}})"), HasSubstr("s.json/knobs/NUM_WARPS: must be a list"));
  EXPECT_THAT(refusal(R"({"knobs": {"NUM_WARPS": 4}})"), HasSubstr("must be a list"));
  EXPECT_THAT(refusal(R"({"knobs": {"NUM_WARPS": [4.5]}})"), HasSubstr("a number or a label"));
  EXPECT_THAT(refusal(R"({"knobs": {"SYNC_POLICY": [5, "cta"]}})"), HasSubstr("cta stands there twice"));
  EXPECT_THAT(refusal(R"({"knobs": {}})"), HasSubstr("no knob is left"));
  EXPECT_THAT(refusal(R"({"knobs": []})"), HasSubstr("must be an object"));
  EXPECT_THAT(refusal(R"({})"), HasSubstr("must be an object"));
  EXPECT_THAT(refusal(R"({"knobs": {"NUM_WARPS": [4]}, "budget": 3})"), HasSubstr("budget"));
}

TEST_F(SpaceTest, TheWholeSpaceIsEveryValueOfWhatIsNotFixed) {
  const auto space = whole_space(kernel_, held_, {"BLOCK_N", "SHARED", "VEC_WIDTH", "SYNC_POLICY"});
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 4u * 5 * 2 * 2 * 2);
  EXPECT_EQ(whole_space(kernel_, held_, {})->size(), 7680u);
  std::vector<std::string> all;
  for (const Knob& knob : kernel_.knobs) all.push_back(knob.name);
  EXPECT_FALSE(whole_space(kernel_, held_, all));
}

TEST_F(SpaceTest, TooManyConfigsAreRefusedHoweverMany) {
  Kernel large = kernel_;
  large.knobs.clear();
  for (int knob = 0; knob < 60; ++knob) {
    large.knobs.push_back({"K" + std::to_string(knob), {}, 0, ""});
    for (int64_t value = 0; value < 10; ++value) large.knobs.back().values.push_back({value, ""});
  }
  const auto space = whole_space(large, {}, {});
  ASSERT_FALSE(space);
  EXPECT_THAT(space.error().message, HasSubstr("more than 100000 configs"));
}

// The reports' own space: what is tried, and why the rest is not.
TEST_F(SpaceTest, ExcludesWhatCannotRunOrIsWarnedOfWithTheReason) {
  const auto space = read(R"({"knobs": {"BLOCK_M": [16, 32, 48, 64], "NUM_WARPS": [2, 4, 6, 8],
      "VEC_WIDTH": [1, 2, 4, 8], "SYNC_POLICY": [0, 2, 5], "REDUCE_WARP": [0, 1], "SWIZZLE_XOR": [0, 1]}})");
  ASSERT_TRUE(space) << space.error().message;
  const Candidates all = candidates_of(*space, kernel_, Problem{}, l4_);
  EXPECT_EQ(all.configs.size() + all.excluded.size(), 768u);
  EXPECT_EQ(all.configs.size(), 10u * 4 * 2 * 2) << "10 pairs of rows and warps divide, one barrier is sound";
  EXPECT_EQ(all.grid.size(), all.configs.size());
  std::map<Exclusion, int> counted;
  for (const Excluded& one : all.excluded) {
    ++counted[one.why];
    EXPECT_FALSE(one.reason.empty());
    EXPECT_EQ(one.why == Exclusion::limit, one.config.knobs.at("BLOCK_M") == 64) << one.reason;
    if (one.why == Exclusion::limit) {
      EXPECT_THAT(one.common, testing::StartsWith("asks 57,")) << one.common;
    } else if (one.config.knobs.at("SYNC_POLICY") < 5) {
      EXPECT_THAT(one.reason, HasSubstr("a race"));
    }
  }
  EXPECT_EQ(counted[Exclusion::limit], 192);
  EXPECT_EQ(counted[Exclusion::warning], 768 - 192 - 160);
  for (size_t point = 0; point < all.configs.size(); ++point) {
    EXPECT_EQ(space->at(all.grid.at(point)), all.configs[point]);
    EXPECT_TRUE(catalog::check_config(kernel_, Problem{}, all.configs[point], l4_));
  }
}

TEST_F(SpaceTest, ARestrictionOfTheManifestExcludes) {
  Kernel strict = kernel_;
  strict.requires_.push_back({"BLOCK_M <= 32", "no more than 32 rows"});
  const auto space = read(R"({"knobs": {"BLOCK_M": [32, 48]}})");
  const Candidates all = candidates_of(*space, strict, Problem{}, l4_);
  ASSERT_EQ(all.excluded.size(), 1u);
  EXPECT_EQ(all.excluded[0].why, Exclusion::restriction);
  EXPECT_EQ(all.excluded[0].common, "no more than 32 rows");
  EXPECT_EQ(all.configs.size(), 1u);
}

TEST_F(SpaceTest, NamedConfigsAreOnOneAxisEachOnceAndMayBeExcluded) {
  const auto space = read(R"({"knobs": {"BLOCK_M": [32, 64]}})");
  const Config fits = space->at({0}), not_fit = space->at({1});
  const Candidates all = candidates_of(std::vector{not_fit, fits, fits}, kernel_, Problem{}, l4_);
  ASSERT_EQ(all.configs.size(), 1u);
  EXPECT_EQ(all.configs[0], fits);
  EXPECT_EQ(all.grid.at(0), std::vector<size_t>{0});
  ASSERT_EQ(all.excluded.size(), 1u);
  EXPECT_EQ(all.excluded[0].why, Exclusion::limit);
}

TEST(OptionChoices, AreTheUsualValuesAndTheGivenOnes) {
  EXPECT_EQ(option_choices("fast_math", {1}), (std::set<int64_t>{0, 1}));
  EXPECT_EQ(option_choices("launch_bounds", {5}), (std::set<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(option_choices("maxrregcount", {0}), (std::set<int64_t>{0, 32, 64, 96, 128, 168, 255}));
  EXPECT_EQ(option_choices("maxrregcount", {100, 40}), (std::set<int64_t>{0, 32, 40, 64, 96, 100, 128, 168, 255}));
}

}  // namespace
}  // namespace attnscope::search
