// Manifests of several launches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "catalog/launch.h"
#include "catalog/launch_key.h"
#include "catalog/workload.h"
#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_of(const char* name) {
  std::ifstream file(source_dir() / "tests/data/programs" / name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Program : public testing::Test {
 protected:
  Result<Kernel> parse() const { return parse_kernel({"dir/softmax3.json", manifest_.dump(), "softmax3.cu", source_}); }
  std::string refusal() const {
    const auto kernel = parse();
    EXPECT_FALSE(kernel) << manifest_["launches"].dump();
    return kernel ? "" : kernel.error().message + " " + kernel.error().hint;
  }
  Json& launch(size_t at) { return manifest_["launches"][at]; }

  Json manifest_ = Json::parse(text_of("softmax3.json"));
  std::string source_ = text_of("softmax3.cu");
};

TEST_F(Program, HasItsStepsInOrder) {
  const auto kernel = parse();
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_EQ(kernel->steps.size(), 4u);
  EXPECT_EQ(kernel->entry, "row_max") << "what shows one launch shows the first";
  EXPECT_EQ(kernel->steps[1].kind, ProgramStep::Kind::memset);
  EXPECT_EQ(kernel->buffers[kernel->steps[1].to].name, "sums");
  EXPECT_EQ(kernel->buffers[3].init.kind, BufferInit::Kind::unset);
  const std::vector<Kernel> launches = kernel->launches();
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(launches[1].entry, "exp_sum");
  EXPECT_EQ(launches[1].step, 2u);
  EXPECT_TRUE(launches[1].steps.empty());
  const Problem problem = kernel->default_problem();
  const Config config = config_of(*kernel, {});
  EXPECT_EQ(launch_of(launches[0], problem, config)->shape.grid, (std::array<int64_t, 3>{6, 1, 1}));
  EXPECT_EQ(launch_of(launches[1], problem, config)->shape.grid, (std::array<int64_t, 3>{2, 6, 1}));
  EXPECT_EQ(workload_of(launches[2], problem, config)->arguments.size(), 3u);
}

TEST_F(Program, AKernelOfOneLaunchIsItsOwnLaunch) {
  const Kernel tiled = shipped("02_tiled");
  ASSERT_EQ(tiled.launches().size(), 1u);
  EXPECT_EQ(tiled.launches().front().entry, tiled.entry);
  EXPECT_FALSE(tiled.launches().front().step);
}

TEST_F(Program, ItsLaunchKeyIsOfEveryLaunch) {
  const auto before = parse();
  launch(3)["grid"][2] = 2;
  const auto after = parse();
  ASSERT_TRUE(before && after);
  const Config config = config_of(*before, {});
  EXPECT_NE(launch_key(*before, before->default_problem(), config),
            launch_key(*after, after->default_problem(), config));
}

TEST_F(Program, AListOfNoneOrTooManyIsRefused) {
  manifest_["launches"] = Json::array();
  EXPECT_THAT(refusal(), HasSubstr("dir/softmax3.json/launches: launches no kernel"));
  manifest_["launches"].push_back({{"memset", "sums"}});
  EXPECT_THAT(refusal(), HasSubstr("launches no kernel"));
  manifest_["launches"] = Json(std::vector<Json>(65, Json{{"memset", "sums"}}));
  EXPECT_THAT(refusal(), HasSubstr("holds 65 entries; at most 64 are allowed"));
  manifest_["launches"] = "row_max";
  EXPECT_THAT(refusal(), HasSubstr("launches: must be a list"));
  manifest_["launches"] = Json::array({1});
  EXPECT_THAT(refusal(), HasSubstr("launches/0: must be a launch"));
}

TEST_F(Program, AStepNamesItsFaultByItsPlace) {
  launch(2)["entry"] = "exp_sums";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("launches/2/entry: the source has no kernel \"exp_sums\""),
                               HasSubstr("row_max, exp_sum, normalise")));
  launch(2)["entry"] = "exp_sum";
  launch(2)["args"][3] = "sum";
  EXPECT_THAT(refusal(), HasSubstr("launches/2/args/3: \"sum\" is not a buffer, size or knob"));
  launch(2)["args"][3] = "sums";
  launch(2)["grid"][0] = "colums";
  EXPECT_THAT(refusal(), HasSubstr("launches/2/grid/0"));
  launch(2)["grid"] = {1, 2};
  EXPECT_THAT(refusal(), HasSubstr("launches/2/grid: must hold three expressions"));
  launch(2)["grid"] = {1, 2, 3};
  launch(2)["threads"] = 3;
  EXPECT_THAT(refusal(), HasSubstr("launches/2/threads"));
}

// A macro may define a kernel under a name that the reader does not see, so a whole word of the text is enough.
TEST_F(Program, AnEntryMayBeOfAMacro) {
  const std::string before = source_;
  launch(2) = {{"entry", "made"}, {"grid", {"1", "1", "1"}}, {"block", {"32", "1", "1"}}, {"args", {"sums"}}};
  const std::string macro = "#define MAKE(name) extern \"C\" __global__ void name(float* sums) { *sums = 1; }\n";
  source_ = before + macro + "MAKE(made)\n";
  EXPECT_TRUE(parse()) << parse().error().message;
  for (const char* other : {"MAKE(made_here)", "MAKE(re_made)", "MAKE(remade)", "MAKE(made2)"}) {
    source_ = before + macro + other + "\n";
    EXPECT_THAT(refusal(), HasSubstr("launches/2/entry: the source has no kernel \"made\"")) << other;
  }
}

TEST_F(Program, AMemsetOrACopyNamesBuffersThatItMayWrite) {
  launch(1) = {{"memset", "x"}};
  EXPECT_THAT(refusal(), HasSubstr("launches/1/memset: \"x\" has the role in"));
  launch(1) = {{"memset", "sum"}};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("launches/1/memset: \"sum\" is not a buffer"), HasSubstr("x, y, most, sums")));
  launch(1) = {{"memset", "sums"}, {"byte", 256}};
  EXPECT_THAT(refusal(), HasSubstr("launches/1/byte"));
  launch(1) = {{"copy", {"sums"}}};
  EXPECT_THAT(refusal(), HasSubstr("launches/1/copy: must be [from, to]"));
  launch(1) = {{"copy", {"most", "most"}}};
  EXPECT_THAT(refusal(), HasSubstr("from a buffer to itself"));
  launch(1) = {{"copy", {"most", "y"}}};
  EXPECT_THAT(refusal(), HasSubstr("launches/1/copy: most has 24 bytes and y has 4800"));
  launch(1) = {{"copy", {"most", "sums"}}};
  EXPECT_TRUE(parse());
}

TEST_F(Program, WhatNothingWroteIsNotRead) {
  launch(1) = {{"copy", {"sums", "most"}}};
  EXPECT_THAT(refusal(), HasSubstr("launches/1/copy: \"sums\" is read, but nothing before wrote it"));
  const Json last = launch(3), first = launch(0);
  manifest_["launches"] = Json::array({last, first});
  EXPECT_THAT(refusal(), HasSubstr("launches/0/args/1: \"sums\" is read, but nothing before wrote it"));
  manifest_["buffers"][3]["init"] = "ones";
  EXPECT_TRUE(parse()) << "it has contents";
  const Json only = launch(1);
  manifest_["launches"] = Json::array();
  manifest_["launches"].push_back(only);
  EXPECT_THAT(refusal(), HasSubstr("nothing writes \"y\", which has the role out"));
}

TEST_F(Program, AVariableDoesNotCarryFromOneLaunchToTheNext) {
  const auto with = [&](const std::string& declared, const std::string& first, const std::string& last) {
    source_ = declared + "\n" + text_of("softmax3.cu");
    source_.insert(source_.find("const int row = blockIdx.x;"), first);
    source_.insert(
        source_.find("const int row = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;\n  if (i < columns) y"),
        last);
  };
  with("__device__ unsigned counter[4];", "counter[0] = 1; ", "if (counter[0] > 1) return; ");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("launches/3: uses the variable \"counter\", as launch 0 does"),
                               HasSubstr("Pass a buffer")));
  const std::string typed = "template <class T, int N> struct Row { T at[N]; };\n__device__ Row<unsigned, 4> counter;";
  with(typed, "counter.at[0] = 1; ", "if (counter.at[0] > 1) return; ");
  EXPECT_THAT(refusal(), HasSubstr("launches/3: uses the variable \"counter\", as launch 0 does"));
  with("__device__ unsigned counter[4];", "counter[0] = 1; ", "");
  EXPECT_TRUE(parse()) << "only one launch has it";
  with("__device__ const int limit = 4; __device__ __forceinline__ int twice(int x) { return 2 * x; }",
       "if (twice(limit) > 9) return; ", "if (twice(limit) > 9) return; ");
  EXPECT_TRUE(parse());
  source_ = text_of("softmax3.cu");
  manifest_["buffers"].push_back(
      {{"name", "w"}, {"role", "in"}, {"dtype", "f32"}, {"shape", {"rows"}}, {"symbol", "weights"}});
  launch(1) = {{"copy", {"w", "sums"}}};
  EXPECT_THAT(refusal(), HasSubstr("launches/1/copy/0: \"w\" is the variable weights's contents and no buffer"));
}

TEST_F(Program, TheKeysOfOneLaunchStandInEach) {
  for (const char* key : {"entry", "launch", "args", "shared_map"}) {
    manifest_[key] = "row_max";
    EXPECT_THAT(refusal(), HasSubstr(std::string(key) + ": belongs in each entry of \"launches\"")) << key;
    manifest_.erase(key);
  }
  Json attention = good_manifest();
  attention["launches"] = manifest_["launches"];
  EXPECT_THAT(catalog::parse(attention).error().message,
              HasSubstr("launches: a kernel of the problem attention is one launch"));
}

TEST_F(Program, UnsetIsForWorkspaces) {
  manifest_["buffers"][1]["init"] = "unset";
  EXPECT_THAT(refusal(), HasSubstr("buffers/1/init: unset is only for the role workspace"));
}

}  // namespace
}  // namespace attnscope::catalog
