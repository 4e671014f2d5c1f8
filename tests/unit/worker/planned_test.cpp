// A program's launches from request to result: names, steps, what applies to all, findings put together.
#include "worker/planned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/hash.h"
#include "worker/explain_run.h"

namespace attnscope::worker {
namespace {

using testing::ElementsAre;

// zero sums, first, copy sums to out, second.
Kernel a_program() {
  Kernel program;
  for (const char* name : {"x", "sums", "out"}) program.buffers.emplace_back().name = name;
  program.steps.resize(4);
  program.steps[0].kind = ProgramStep::Kind::memset;
  program.steps[0].to = 1;
  program.steps[0].byte = 7;
  program.steps[1].entry = "first";
  program.steps[2].kind = ProgramStep::Kind::copy;
  program.steps[2].from = 1;
  program.steps[2].to = 2;
  program.steps[3].entry = "second";
  return program;
}

PlannedLaunch launch(const std::string& entry, size_t step) {
  PlannedLaunch one;
  one.kernel.entry = entry;
  one.kernel.step = step;
  one.name = "program, " + entry;
  one.launch.shape = {{static_cast<int64_t>(step), 1, 1}, {64, 1, 1}};
  one.launch.dynamic_shared = 100 * static_cast<int64_t>(step);
  one.arguments = {{entry, {}, {}, {}}};
  one.launch.dynamic_parts = {{entry + "_tile", 64}};
  one.variant = std::make_shared<compile::Variant>();
  return one;
}

LaunchFigures figures(const std::string& code, double us) {
  LaunchFigures one;
  one.variant.emplace().code_hash = code;
  one.occupancy.emplace().ctas_per_sm = static_cast<int64_t>(us);
  one.timing.emplace().p50 = us;
  return one;
}

TEST(PlannedTest, StepsHaveTheNamesThatObservationsGiveThem) {
  std::vector<std::string> names;
  for (const LaunchFigures& one : steps_of(a_program())) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("memset sums", "first", "copy sums to out", "second"));
  EXPECT_TRUE(steps_of(Kernel{}).empty()) << "no program";
  EXPECT_EQ(launch_words(launch("second", 3).kernel), "launch 4, second");
  EXPECT_EQ(launch_words(Kernel{}), "launch 1, ");
}

TEST(PlannedTest, ADevicesStepsAreTheProgramsWithTheirLaunches) {
  const std::vector<std::shared_ptr<const device::Loaded>> loaded{std::make_shared<device::Loaded>(),
                                                                  std::make_shared<device::Loaded>()};
  const auto steps = device_steps(a_program(), {launch("first", 1), launch("second", 3)}, loaded);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].kind, ProgramStep::Kind::memset);
  EXPECT_EQ(steps[0].to, 1u);
  EXPECT_EQ(steps[0].byte, 7);
  EXPECT_EQ(steps[0].loaded, nullptr);
  EXPECT_EQ(steps[2].kind, ProgramStep::Kind::copy);
  EXPECT_EQ(steps[2].from, 1u);
  EXPECT_EQ(steps[2].to, 2u);
  for (const size_t at : {1, 3}) {
    const bool first = at == 1;
    EXPECT_EQ(steps[at].kind, ProgramStep::Kind::launch);
    EXPECT_EQ(steps[at].name, first ? "program, first" : "program, second");
    EXPECT_EQ(steps[at].loaded, loaded[first ? 0 : 1]);
    EXPECT_EQ(steps[at].shape.grid[0], first ? 1 : 3);
    EXPECT_EQ(steps[at].dynamic_shared, first ? 100 : 300);
    ASSERT_EQ(steps[at].arguments.size(), 1u);
    EXPECT_EQ(steps[at].arguments[0].name, first ? "first" : "second");
    ASSERT_EQ(steps[at].shared_names.size(), 1u);
    EXPECT_EQ(steps[at].shared_names[0].name, first ? "first_tile" : "second_tile");
  }
}

TEST(PlannedTest, TheLongestLaunchStandsForAllWithAHashOfAllCode) {
  std::vector<LaunchFigures> steps{{"memset sums", {}, {}, {}, {}}, figures("a", 5), figures("b", 9), figures("c", 7)};
  steps[0].timing.emplace().p50 = 100;
  const Headliner one = headliner(steps);
  ASSERT_TRUE(one.variant);
  EXPECT_EQ(one.occupancy->ctas_per_sm, 9);
  EXPECT_EQ(one.variant->code_hash, xxh3_128("a\nb\nc\n"));
  EXPECT_FALSE(headliner({}).variant);
  EXPECT_FALSE(headliner({}).occupancy);
}

Finding finding(RuleId rule, const std::string& sentence, std::optional<double> gain = {}) {
  Finding one;
  one.rule = rule;
  one.sentence = sentence;
  if (gain) one.gain = Gain{*gain, {}};
  return one;
}

std::vector<std::string> sentences(const std::vector<Finding>& findings) {
  std::vector<std::string> all;
  for (const Finding& one : findings) all.push_back(one.sentence);
  return all;
}

TEST(PlannedTest, AKernelsFindingsStayAsTheyAre) {
  PlannedLaunch only = launch("only", 0);
  only.kernel.step.reset();
  EXPECT_THAT(sentences(merged({only}, {{finding(RuleId::knob_unused, "B"), finding(RuleId::knob_unused, "A")}})),
              ElementsAre("B", "A"));
}

TEST(PlannedTest, AProgramsFindingsNameTheirLaunchAndTheMostWorthComesFirst) {
  const auto all = merged({launch("first", 1), launch("second", 3)}, {{finding(RuleId::bank_conflicts, "little", 1)},
                                                                      {finding(RuleId::bank_conflicts, "much", 5)}});
  EXPECT_THAT(sentences(all), ElementsAre("second (launch 4): much", "first (launch 2): little"));
  EXPECT_EQ(all[0].where.at("launch"), "4");
  EXPECT_EQ(all[1].where.at("launch"), "2");
  EXPECT_THAT(sentences(merged({launch("only", 2)}, {{finding(RuleId::bank_conflicts, "it")}})),
              ElementsAre("only (launch 3): it"))
      << "a program with one launch";
}

TEST(PlannedTest, WhatAllLaunchesHaveInCommonStandsOnce) {
  const Finding common = finding(RuleId::bank_conflicts, "common");
  EXPECT_THAT(sentences(merged({launch("first", 1), launch("second", 3)}, {{common}, {common}})),
              ElementsAre("common"));
  EXPECT_THAT(sentences(merged({launch("a", 0), launch("b", 1), launch("c", 2)}, {{common}, {common}, {}})),
              ElementsAre("a (launch 1): common", "b (launch 2): common"))
      << "two of three are not all";
}

TEST(PlannedTest, AKnobIsUnusedOnlyIfNoLaunchUsesIt) {
  const Finding unused = finding(RuleId::knob_unused, "unused");
  EXPECT_TRUE(merged({launch("first", 1), launch("second", 3)}, {{unused}, {}}).empty());
  EXPECT_THAT(sentences(merged({launch("first", 1), launch("second", 3)}, {{unused}, {unused}})),
              ElementsAre("unused"));
}

TEST(PlannedTest, BytesAreThoseOfEachBufferOnce) {
  Workload workload;
  workload.operands.resize(3);
  for (Operand& one : workload.operands) one.type = ElementType::f32;
  workload.operands[0].shape = {10};
  workload.operands[1].shape = {4, 25};
  workload.operands[2].shape = {1000};
  const ArgumentValue first{"x", 0, {}, {}}, second{"y", 1, {}, {}}, size{"n", {}, {}, 4};
  EXPECT_EQ(bytes_named(workload, {first, size, first}).all, 40);
  EXPECT_EQ(bytes_named(workload, {first, second}).all, 440);
  ArgumentValue parts{"parts", {}, {}, {}};
  parts.addresses = {{0, 2}, {8, 0}};
  EXPECT_EQ(bytes_named(workload, {first, parts}).all, 4040);
  EXPECT_EQ(bytes_named(workload, {size}).all, 0);
  ArgumentValue half = second, quarter = second;
  half.offset = 200;
  quarter.offset = 300;
  EXPECT_EQ(bytes_named(workload, {half, quarter}).all, 200) << "what lies before both is not passed";
  workload.operands[0].role = BufferRole::in;
  workload.operands[1].role = BufferRole::out;
  workload.operands[2].role = BufferRole::inout;
  const auto [all, by_use] = bytes_named(workload, {second, parts});
  EXPECT_EQ(all, 4440);
  EXPECT_EQ(by_use.read, 4040);
  EXPECT_EQ(by_use.written, 4400);
}

// A buffer that no argument names, such as a stand-in of an import, is not read, and an output is not loaded.
TEST(PlannedTest, OnlyInputsThatAreArgumentsAreRead) {
  std::optional<Workload> workload(std::in_place);
  workload->operands.resize(4);
  for (Operand& one : workload->operands) one.type = ElementType::f32, one.shape = {1000};
  workload->operands[1].role = BufferRole::out;
  workload->operands[2].role = BufferRole::inout;
  const ArgumentValue x{"x", 0, {}, {}}, y{"y", 1, {}, {}};
  ArgumentValue parts{"parts", {}, {}, {}};
  parts.addresses = {{0, 2}};
  EXPECT_EQ(distinct_bytes({}, workload, {x, y}), 4000);
  EXPECT_EQ(distinct_bytes({}, workload, {x, y, parts}), 8000);
  EXPECT_EQ(distinct_bytes({}, workload), 12000);
}

TEST(PlannedTest, VariablesAreUsedWhereAnInstructionTakesTheirAddress) {
  using Relocation = compile::CubinRelocation;
  using Target = Relocation::Target;
  const auto uses = [](Relocation relocation, const char* text = "ULDC.64 UR4, c[0x4][0x10]") {
    compile::SassProgram program;
    program.kernel.relocations = {{.target = Target::external, .symbol = "vprintf"}, std::move(relocation)};
    program.instructions.emplace_back().text = text;
    return uses_variables(program);
  };
  const auto at = [](Target target, const char* symbol = "table") {
    return Relocation{.bank = 4, .offset = 16, .target = target, .symbol = symbol};
  };
  EXPECT_TRUE(uses(at(Target::global)));
  EXPECT_TRUE(uses(at(Target::global_init)));
  EXPECT_FALSE(uses(at(Target::global_init), "ULDC.64 UR4, c[0x4][0x18]")) << "a constant that is folded";
  EXPECT_FALSE(uses(at(Target::global_init, "$str$1")));
  EXPECT_FALSE(uses(at(Target::constant_bank)));
  EXPECT_FALSE(uses(at(Target::text)));
  EXPECT_TRUE(uses({.place = Relocation::Place::text, .target = Target::global, .symbol = "table"}));
}

}  // namespace
}  // namespace attnscope::worker
