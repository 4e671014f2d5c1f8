#include "cli/experiment_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using Knobs = std::map<std::string, int64_t>;

// Uses the shipped kernels and presets, and a home of the test's own.
class ExperimentOptionsTest : public testing::Test {
 protected:
  NamedDraft named() {
    auto draft = draft_of(options_);
    EXPECT_TRUE(draft) << draft.error().message << "\n" << draft.error().hint;
    return draft.value_or(NamedDraft{});
  }
  Failure refusal() {
    const auto draft = draft_of(options_);
    return draft ? Failure{} : draft.error();
  }

  testing_support::TempDir home_;
  const testing_support::Variable named_home_{"ATTNSCOPE_HOME", home_.path()};
  ExperimentOptions options_;
};

TEST_F(ExperimentOptionsTest, WithoutAnyItIsTheDefaultPreset) {
  const NamedDraft all = named();
  EXPECT_EQ(all.draft.kernel, "tiled");
  EXPECT_EQ(all.kernel.id, "tiled");
  EXPECT_FALSE(all.draft.device.empty());
  EXPECT_EQ(all.draft.config.options, all.kernel.options);
}

TEST_F(ExperimentOptionsTest, EachOptionOverridesThePreset) {
  const NamedDraft before = named();
  options_.device = "cuda:3";
  EXPECT_EQ(named().draft.device, "cuda:3");
  options_.settings = {"NUM_WARPS=8"};
  Knobs wanted = before.draft.config.knobs;
  wanted["NUM_WARPS"] = 8;
  EXPECT_EQ(named().draft.config.knobs, wanted);
  options_.problem = "H=3,causal=top_left";
  const Problem problem = named().draft.problem;
  EXPECT_EQ(problem.heads, 3);
  EXPECT_EQ(problem.causal, Causal::top_left);
  EXPECT_EQ(problem.seq_k, before.draft.problem.seq_k);
  options_ = {};
  options_.kernel = "tiled";
  EXPECT_EQ(named().draft, before.draft) << "the preset's own kernel changes nothing";
  options_.kernel = "minimal";
  EXPECT_EQ(named().kernel.id, "minimal");
  EXPECT_EQ(named().draft.config.knobs, Knobs{}) << "the preset's knobs are another kernel's";
  EXPECT_EQ(named().draft.device, before.draft.device);
}

TEST_F(ExperimentOptionsTest, APresetFileIsTakenAsItIs) {
  options_.preset = home_.write("own.json", R"({"attnscope_preset":1,"title":"Own","kernel":"minimal",
      "device":"emulated:h200","options":{"fast_math":false,"fmad":true,"maxrregcount":0}})");
  const NamedDraft own = named();
  EXPECT_EQ(own.draft.kernel, "minimal");
  EXPECT_EQ(own.draft.device, "emulated:h200");
  EXPECT_FALSE(own.draft.config.options.fast_math);
  options_.preset = (home_ / "none.json").string();
  EXPECT_THAT(refusal().message, HasSubstr("none.json"));
  options_.kernel = "minimal";
  EXPECT_THAT(refusal().message, HasSubstr("none.json")) << "it was asked for";
}

TEST_F(ExperimentOptionsTest, ABadOptionIsRefused) {
  options_.settings = {"NUM_WARP=8"};
  EXPECT_THAT(refusal().message, HasSubstr("NUM_WARP"));
  options_.settings = {"NUM_WARPS=5"};
  EXPECT_EQ(refusal().stage, Stage::input);
  options_ = {};
  options_.problem = "H=x";
  EXPECT_EQ(refusal().stage, Stage::input);
  options_ = {};
  options_.kernel_dirs = {(home_ / "none").string()};
  EXPECT_THAT(refusal().message, HasSubstr("--kernels " + (home_ / "none").string()));
}

TEST_F(ExperimentOptionsTest, AnUnknownKernelIsNamedWithThoseThatDidNotLoad) {
  options_.kernel = "tilde";
  EXPECT_EQ(refusal().stage, Stage::input);
  EXPECT_EQ(refusal().message, "there is no kernel \"tilde\"");
  EXPECT_THAT(refusal().hint, HasSubstr("tiled"));
  EXPECT_THAT(refusal().hint, HasSubstr("Add your own folder with --kernels DIR."));
  EXPECT_THAT(refusal().hint, testing::Not(HasSubstr("did not load")));
  home_.write("mine/broken.json", R"({"attnscope_kernel":1,"id":"broken")");
  home_.write("mine/broken.cu", "");
  options_.kernel_dirs = {(home_ / "mine").string()};
  EXPECT_THAT(refusal().hint, HasSubstr("\n  Another kernel did not load: "));
  EXPECT_THAT(refusal().hint, HasSubstr("broken.json"));
  options_.kernel = "tiled";
  EXPECT_EQ(named().kernel.id, "tiled") << "the others do not matter";
}

TEST_F(ExperimentOptionsTest, KernelsOfTheUserAndOfAGivenFolderAreFound) {
  const std::filesystem::path source = ATTNSCOPE_SOURCE_DIR;
  const std::string shipped = testing_support::read_text(source / "kernels/01_minimal.json");
  const std::string name = "\"id\": \"minimal\"";
  ASSERT_NE(shipped.find(name), std::string::npos);
  for (const auto& [folder, id] : {std::pair("config/kernels/", "users"), std::pair("given/", "given")}) {
    std::string manifest = shipped;
    manifest.replace(manifest.find(name), name.size(), std::string("\"id\": \"") + id + "\"");
    home_.write(folder + std::string(id) + ".json", manifest);
    std::filesystem::copy_file(source / "kernels/01_minimal.cu", home_ / (folder + std::string("01_minimal.cu")));
  }
  options_.kernel = "users";
  EXPECT_EQ(named().kernel.id, "users");
  options_.kernel = "given";
  EXPECT_EQ(refusal().message, "there is no kernel \"given\"");
  options_.kernel_dirs = {(home_ / "given").string()};
  EXPECT_EQ(named().kernel.id, "given");
}

}  // namespace
}  // namespace attnscope::cli
