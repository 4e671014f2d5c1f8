// What the rules read in a kernel's source and manifest.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cpp_tokens.h"
#include "explain/explain.h"
#include "explain/helpers.h"
#include "explain/rules.h"
#include "explain/words.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

TEST(Words, AreWhole) {
  EXPECT_TRUE(names("head_dim + PAD", "PAD"));
  EXPECT_TRUE(names("PADDED * PAD", "PAD"));
  for (const char* text : {"PADDED", "MY_PAD", "PAD_2", "2PAD", ""}) EXPECT_FALSE(names(text, "PAD")) << text;
  for (const char* text : {"head_dim + PAD", "head_dim +PAD", "+  PAD", "PAD * (1 + PAD)"})
    EXPECT_TRUE(adds(text, "PAD")) << text;
  for (const char* text : {"PAD", "PAD + 1", "head_dim - PAD", " PAD", "1 + PADDED"})
    EXPECT_FALSE(adds(text, "PAD")) << text;
}

TEST(KnobUnused, CountsUsesInSourceAndLaunch) {
  const auto unused = [](
                          const std::string& source, void (*change)(Kernel&) = [](Kernel&) {}) {
    Input in;
    in.kernel.knobs.push_back({"WIDE", {{1, ""}}, 1, ""});
    in.kernel.source += source;
    change(in.kernel);
    return look(RuleId::knob_unused, in.facts).has_value();
  };
  for (const char* source : {"", "#undef WIDE\n", "#define WIDE 2\n", "#ifndef WIDE\n#endif\n", "int WIDER;\n"})
    EXPECT_TRUE(unused(source)) << source;
  for (const char* source : {"int a = WIDE;\n", "#if WIDE > 1\n#endif\n", "#ifdef WIDE\n#endif\n",
                             "#define W (2 * WIDE)\n", "#define WIDER WIDE\n"})
    EXPECT_FALSE(unused(source)) << source;
  EXPECT_FALSE(unused("", [](Kernel& k) { k.launch.dynamic_shared = "4 * WIDE"; }));
  EXPECT_FALSE(unused("", [](Kernel& k) { k.launch.static_shared = "4 * WIDE"; }));
  EXPECT_FALSE(unused("", [](Kernel& k) { k.launch.grid[1] = "WIDE"; }));
  EXPECT_FALSE(unused("", [](Kernel& k) { k.launch.block[2] = "WIDE"; }));
  EXPECT_FALSE(unused("", [](Kernel& k) { k.shared_map = {{"tile", "2 * WIDE"}}; }));
  EXPECT_FALSE(unused("", [](Kernel& k) { k.steps.emplace_back().launch.grid[0] = "WIDE"; }));
  EXPECT_FALSE(unused("", [](Kernel& k) { k.steps.emplace_back().shared_map = {{"tile", "WIDE"}}; }));
}

TEST(HelperUnused, IsADeviceFunctionThatNothingCalls) {
  const auto unused = [](const std::string& source) -> std::string {
    Input in;
    in.kernel.source += source;
    const auto found = look(RuleId::helper_unused, in.facts);
    return found ? found->sentence.substr(0, found->sentence.find('(')) + ":" + found->where.at("line") : "";
  };
  EXPECT_EQ(unused("\n__device__ int twice(int i) { return 2 * i; }\n"), "twice:7");
  EXPECT_EQ(unused("__device__ __launch_bounds__(32) int twice(int i) { return 2 * i; }\n"), "twice:6");
  EXPECT_EQ(unused("__device__ int once(int i) { return i; }\n__device__ int twice(int i) { return 2 * once(i); }\n"),
            "twice:7");
  EXPECT_EQ(unused("#line 70 \"other.cuh\"\n__device__ int twice(int i) { return 2 * i; }\n"), "twice:70");
  for (const char* none :
       {"__device__ int twice(int i);\n", "__device__ int two = int(2);\n", "__device__ int four[4];\n",
        "struct Twice {\n  __device__ int operator()(int i) { return 2 * i; }\n};\n", "__device__"})
    EXPECT_EQ(unused(none), "") << none;
}

TEST(HelperUnused, NamesAllOfThem) {
  Input in;
  in.kernel.source += "#line 70 \"other.cuh\"\n__device__ int of_header() { return 1; }\n#line 9 \"made_up.cu\"\n";
  in.kernel.source += "__device__ int two() { return 2; }\n";
  EXPECT_THAT(look(RuleId::helper_unused, in.facts)->sentence,
              testing::StartsWith("two(), of_header() are defined, but nothing calls "
                                  "them."));
  EXPECT_EQ(look(RuleId::helper_unused, in.facts)->where.at("line"), "9");
  for (const char* name : {"three", "four", "five"})
    in.kernel.source += fmt::format("__device__ int {}() {{ return 3; }}\n", name);
  EXPECT_THAT(look(RuleId::helper_unused, in.facts)->sentence,
              testing::StartsWith("two(), three(), four(), five() and 1 more are defined"));
  EXPECT_DOUBLE_EQ(look(RuleId::helper_unused, in.facts)->evidence.at(0).value, 5);
}

TEST(UsesOfWords, ALineUsesAWordOnceAndADefaultForItIsNoUse) {
  const std::string source =
      "#define TILE WIDE * WIDE + twice(TALL)\n#ifndef WIDE\n#define WIDE 4\n#endif\n#undef TALL\n#define TALL TALL\n"
      "int x = WIDE + x_WIDE + TILE; // WIDE\nconst char* t = \"WIDE\";\n";
  const auto tokens = cpp_tokens(source);
  const Uses uses(tokens);
  EXPECT_EQ(uses.of("WIDE"), 2) << "the line of TILE and the variable's";
  EXPECT_EQ(uses.of("TILE"), 1);
  EXPECT_EQ(uses.of("TALL"), 1) << "the line of TILE";
  EXPECT_EQ(uses.of("twice"), 1);
  EXPECT_EQ(uses.of("x"), 1);
  EXPECT_EQ(uses.of("y"), 0);
}

TEST(HelperUnused, OneThatAMacroCallsIsUsed) {
  Input in;
  in.kernel.source += "__device__ int twice(int i) { return 2 * i; }\n#define FOUR_TIMES(i) twice(twice(i))\n";
  EXPECT_FALSE(look(RuleId::helper_unused, in.facts));
}

TEST(UnusedHelpers, SayWhatTheyWouldBring) {
  Input in;
  in.kernel.source +=
      "__device__ int swap(int i) { return i ^ 7; }\n__device__ int add(int i) { return i + 7; }\n"
      "__device__ void by_wmma(F& a) { mma_sync(a, a, a, a); }\n"
      "__device__ void by_ptx(F& a) { asm(\"mma.sync.aligned.m16n8k16\" : : ); }\n"
      "__device__ int gamma_of(int comma) { return comma; }\n";
  std::string permute, multiply;
  for (const UnusedHelper& one : unused_helpers(in.kernel)) {
    if (one.brings(Wants::layout)) permute += one.name + " ";
    if (one.brings(Wants::tensor)) multiply += one.name + " ";
    EXPECT_FALSE(one.brings(Wants::source)) << one.name;
  }
  EXPECT_EQ(permute, "swap ");
  EXPECT_EQ(multiply, "by_wmma by_ptx ");
}

TEST(Launches, WarpsAtOnceAndEvenness) {
  DeviceSpec spec;
  spec.sms = 48;
  const auto grid = [](int64_t ctas, int64_t places = 12) {
    Occupancy occupancy;
    occupancy.ctas_per_sm = places, occupancy.warps_per_sm = 4 * places, occupancy.total_ctas = ctas;
    return occupancy;
  };
  EXPECT_DOUBLE_EQ(warps_at_once(spec, grid(24)), 2);
  EXPECT_DOUBLE_EQ(warps_at_once(spec, grid(96)), 8);
  EXPECT_DOUBLE_EQ(warps_at_once(spec, grid(4800)), 48);
  EXPECT_DOUBLE_EQ(evenness(spec, grid(48)), 1);
  EXPECT_DOUBLE_EQ(evenness(spec, grid(12)), 0.25);
  EXPECT_DOUBLE_EQ(evenness(spec, grid(100)), 100.0 / 144);
  EXPECT_DOUBLE_EQ(evenness(spec, grid(0)), 0);
  spec.sms = 0;
  EXPECT_DOUBLE_EQ(evenness(spec, grid(3)), 1) << "of an unknown device";
}

TEST(Difference, IsEveryKnobThatHasAnotherValue) {
  Config from, to;
  from.knobs = {{"ROWS", 32}, {"WIDE", 0}, {"GONE", 1}};
  to.knobs = {{"ROWS", 32}, {"WIDE", 1}, {"NEW", 2}};
  EXPECT_EQ(difference(from, to).set, (std::map<std::string, int64_t>{{"NEW", 2}, {"WIDE", 1}}));
  EXPECT_TRUE(difference(from, from).set.empty());
}

}  // namespace
}  // namespace attnscope::explain
