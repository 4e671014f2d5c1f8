#include "core/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/config.h"
#include "core/option_fields.h"
#include "core/words.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(OptionsTest, AreSetAndReadByName) {
  CompileOptions options;
  EXPECT_THAT(option_names(), ElementsAre("fast_math", "fmad", "maxrregcount", "launch_bounds", "compiler"));
  ASSERT_TRUE(apply_option(options, "maxrregcount=64"));
  ASSERT_TRUE(apply_option(options, "fast_math=off"));
  EXPECT_EQ(options, (CompileOptions{.fast_math = false, .fmad = true, .maxrregcount = 64}));
  EXPECT_EQ(option_value(options, "maxrregcount"), 64);
  EXPECT_EQ(option_value(options, "fmad"), 1);
  ASSERT_TRUE(apply_option(options, "fast_math=true"));
  EXPECT_TRUE(options.fast_math);
  EXPECT_THAT(option_words(options, {}), ElementsAre("maxrregcount=64"));
  options.fmad = false;
  EXPECT_EQ(short_text({{}, options}, {}, {}), "fmad=off maxrregcount=64");
}

// Files, hashes and cached variants from before the option existed keep their meaning.
TEST(OptionsTest, LaunchBoundsThatAreTheSourcesOwnAreLeftOut) {
  CompileOptions options;
  EXPECT_FALSE(write_fields(options).contains("launch_bounds"));
  ASSERT_TRUE(apply_option(options, "launch_bounds=2"));
  EXPECT_EQ(write_fields(options).at("launch_bounds"), 2);
  EXPECT_EQ(*read_fields<CompileOptions>(write_fields(options), ""), options);
  EXPECT_EQ(short_text({{}, options}, {}, {}), "launch_bounds=2");
}

TEST(OptionsTest, APersonReadsWhatZeroStandsFor) {
  EXPECT_EQ(option_words("fmad", 0), "off");
  EXPECT_EQ(option_words("maxrregcount", 0), "none");
  EXPECT_EQ(option_words("launch_bounds", 0), "as written");
  EXPECT_EQ(option_words("launch_bounds", 2), "2");
}

TEST(OptionsTest, NumbersOutOfRangeAreRefusedByName) {
  EXPECT_TRUE(check_options({}));
  EXPECT_FALSE(check_options({.maxrregcount = 15})) << "what a person may not give";
  const auto high = check_options({.launch_bounds = 33}), low = check_options({.maxrregcount = -1});
  ASSERT_FALSE(high);
  EXPECT_EQ(high.error().message, "launch_bounds: 33 is outside 1…32");
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().message, "maxrregcount: -1 is outside 16…255");
}

TEST(OptionsTest, WhatIsNoValueIsRefused) {
  const auto why = [](const char* text) {
    CompileOptions options;
    const auto set = apply_option(options, text);
    EXPECT_EQ(options, CompileOptions{}) << text;
    return set ? "taken" : set.error().message + " " + set.error().hint;
  };
  EXPECT_EQ(why("maxrregcount=0"), "taken");
  for (const char* text :
       {"maxrregcount=15", "maxrregcount=256", "maxrregcount=64x", "maxrregcount=", "maxrregcount=-1"})
    EXPECT_THAT(why(text), HasSubstr("0 for no limit, or 16 to 255")) << text;
  EXPECT_EQ(why("launch_bounds=0"), "taken");
  for (const char* text : {"launch_bounds=33", "launch_bounds=-1", "launch_bounds=on"})
    EXPECT_THAT(why(text), HasSubstr("Give 0 for what the source says, or 1 to 32.")) << text;
  EXPECT_THAT(why("fmad=2"), HasSubstr("neither on nor off"));
  EXPECT_THAT(why("maxregs=64"), HasSubstr("no compile option maxregs"));
  EXPECT_THAT(why("fmad"), HasSubstr("NAME=VALUE"));
}

TEST(OptionsTest, AValueIsWrittenAsInTheOptions) {
  const CompileOptions options{.fmad = false, .maxrregcount = 64, .launch_bounds = 2, .compiler = CompilerChoice::nvcc};
  const Json written = write_fields(options);
  for (const auto& [name, value] : written.items())
    EXPECT_EQ(option_json(name, option_value(options, name)), value) << name;
}

TEST(OptionsTest, TheCompilerIsAWord) {
  CompileOptions options;
  EXPECT_FALSE(write_fields(options).contains("compiler")) << "what was stored before stays as it was";
  ASSERT_TRUE(apply_option(options, "compiler=nvcc"));
  EXPECT_EQ(options.compiler, CompilerChoice::nvcc);
  EXPECT_EQ(write_fields(options).at("compiler"), "nvcc");
  EXPECT_EQ(*read_fields<CompileOptions>(write_fields(options), ""), options);
  EXPECT_EQ(short_text({{}, options}, {}, {}), "compiler=nvcc");
  EXPECT_EQ(option_words("compiler", 0), label("nvrtc"));
  EXPECT_EQ(offered_values("compiler"), (std::vector<int64_t>{0, 1}));
  const auto wrong = apply_option(options, "compiler=clang");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "compiler: \"clang\" is not one of nvrtc, nvcc");
}

}  // namespace
}  // namespace attnscope
