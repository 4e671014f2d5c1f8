#include <gmock/gmock.h>

#include <cstring>

#include "unit/worker/scripted_watch.h"

namespace attnscope::worker {
namespace {

using emulator::WatchKind;
using testing::ElementsAre;
using testing::HasSubstr;

// Only the watched run covers the whole grid: the search for luck compares outputs of the sample with each other.
TEST_F(WatchRunTest, TheWholeGridIsWatchedIfAsked) {
  run_.whole_grid = true;
  change_where([](const device::Trial& trial) { return trial.ctas.size() == 30; });
  const WatchReport all = report();
  EXPECT_EQ(all.ctas, 30);
  EXPECT_EQ(all.total_ctas, 30);
  EXPECT_TRUE(all.findings.empty());
  ASSERT_EQ(device_.trials.size(), 1u + 1 + 3 + 8);
  EXPECT_TRUE(device_.trials[0].watch);
  EXPECT_EQ(device_.trials[0].ctas.size(), 30u);
  EXPECT_EQ(device_.trials[0].ctas.back(), 29u);
  EXPECT_FALSE(device_.trials[1].watch);
  for (size_t i = 1; i < device_.trials.size(); ++i)
    EXPECT_EQ(device_.trials[i].ctas, ctas_to_watch({.grid = {30, 1, 1}}));
  EXPECT_EQ(told_.back().first, told_.back().second);
  run_.launch.shape.grid = {1 << 20, 1 << 5, 1};
  const auto refused = watch_kernel(run_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("too large to watch whole"));
}

TEST_F(WatchRunTest, AReadInACtaWithoutTheSearchIsNotExcused) {
  run_.whole_grid = true;
  device_.findings = {of_kind(WatchKind::shared_never_written), of_kind(WatchKind::shared_never_written)};
  device_.findings[0].cta = 6;
  device_.findings[1].cta = 7;
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.findings[0].severity, Severity::warning);
  EXPECT_EQ(all.findings[1].severity, Severity::error);
}

TEST_F(WatchRunTest, AGridThatTheSampleCoversIsNotRunTwice) {
  run_.whole_grid = true;
  run_.launch.shape = {{2, 2, 1}, {32, 1, 1}};
  EXPECT_EQ(report().ctas, 4);
  EXPECT_EQ(device_.trials.size(), 1u + 3 + 8);
}

TEST_F(WatchRunTest, OneWatchedRunThenThreeFillsAndEightOrders) {
  const WatchReport all = report();
  EXPECT_EQ(all.ctas, 8);
  EXPECT_EQ(all.total_ctas, 30);
  EXPECT_EQ(all.fills, 3);
  EXPECT_EQ(all.orders, 8);
  EXPECT_TRUE(all.findings.empty());
  EXPECT_EQ(references_, 0) << "every output is the same";
  ASSERT_EQ(device_.trials.size(), 12u);
  for (size_t i = 0; i < 12; ++i) {
    const device::Trial& trial = device_.trials[i];
    EXPECT_EQ(trial.ctas, ctas_to_watch({.grid = {30, 1, 1}})) << i;
    EXPECT_EQ(trial.watch, i == 0) << i;
    EXPECT_EQ(trial.shared_names.size(), i == 0 ? 1u : 0u) << i;
    EXPECT_EQ(trial.order_seed, i < 4 ? 0 : i - 3) << i;
    EXPECT_EQ(trial.random_fill != 0, i == 3) << i;
    EXPECT_EQ(trial.shared_fill, i == 1 ? kNan : i == 2 || i >= 8 ? kLarge : 0) << i;
  }
}

TEST_F(WatchRunTest, ProgressIsOverAllRuns) {
  report();
  ASSERT_EQ(told_.size(), 24u);
  for (size_t i = 0; i < told_.size(); ++i) {
    EXPECT_EQ(told_[i].first, static_cast<int64_t>((i + 1) / 2 * 8)) << i;
    EXPECT_EQ(told_[i].second, 12 * 8) << i;
  }
}

TEST_F(WatchRunTest, AFindingSaysRulePlaceBufferAndThreads) {
  WatchFinding race;
  race.kind = WatchKind::shared_write_read;
  race.op = 10, race.other = 20;
  race.line = "02_tiled.cu:174 (inlined)", race.other_line = "02_tiled.cu:160";
  race.count = 33;
  race.cta = race.other_cta = 23;  // of 5 x 3 x 2
  race.thread = 40, race.other_thread = 8;
  race.buffer = "tile", race.buffer_byte = 12;
  race.message = "a race";
  device_.findings = {race};
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 1u);
  const Finding& finding = all.findings[0];
  EXPECT_EQ(finding.rule, RuleId::race_shared);
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.sentence, "a race");
  ASSERT_EQ(finding.evidence.size(), 1u);
  EXPECT_EQ(finding.evidence[0].name, "times seen");
  EXPECT_EQ(finding.evidence[0].value, 33);
  EXPECT_EQ(finding.where, (std::map<std::string, std::string>{{"file", "02_tiled.cu"},
                                                               {"line", "174"},
                                                               {"other_file", "02_tiled.cu"},
                                                               {"other_line", "160"},
                                                               {"buffer", "tile"},
                                                               {"element", "byte 12"},
                                                               {"cta", "3, 1, 1"},
                                                               {"threads", "8, 40"}}));
}

TEST_F(WatchRunTest, AFindingOfOneSideNamesItOnce) {
  WatchFinding read;
  read.kind = WatchKind::local_never_written;
  read.op = read.other = 10;
  read.line = read.other_line = "k.cu:3";
  read.cta = 1, read.other_cta = 2;
  read.thread = read.other_thread = 5;
  device_.findings = {read};
  WatchFinding nowhere = read;
  nowhere.line = "";
  device_.findings.push_back(nowhere);
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.findings[0].where,
            (std::map<std::string, std::string>{
                {"file", "k.cu"}, {"line", "3"}, {"cta", "1, 0, 0"}, {"other_cta", "2, 0, 0"}, {"threads", "5"}}));
  EXPECT_FALSE(all.findings[1].where.contains("file"));
}

TEST_F(WatchRunTest, ARaceWithinAWarpIsAWarning) {
  for (const WatchKind kind : {WatchKind::warp_write_write, WatchKind::warp_write_read, WatchKind::warp_read_write}) {
    device_.findings = {of_kind(kind)};
    EXPECT_EQ(report().findings.at(0).severity, Severity::warning);
  }
  device_.findings = {of_kind(WatchKind::barrier_uneven)};
  EXPECT_EQ(report().findings.at(0).severity, Severity::error);
}

// For a kernel that is not attention: the output's own name and elements.
TEST_F(WatchRunTest, AChangedOutputHasItsNameAndItsType) {
  auto operands = std::make_shared<check::Operands>();
  operands->all = {{{"in", BufferRole::in, ElementType::f16, {4}, {}}, {}},
                   {{"total", BufferRole::out, ElementType::f32, {4}, {}}, {}}};
  run_.launch.operands = operands;
  device_.name = "total";
  device_.bytes = 16;
  change_where([](const device::Trial& trial) { return trial.shared_fill == kLarge && trial.order_seed == 0; }, 6);
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 1u);
  EXPECT_THAT(all.findings[0].sentence, HasSubstr("1 element of total has other bits"));
  EXPECT_EQ(all.findings[0].where, (std::map<std::string, std::string>{{"buffer", "total"}, {"element", "3"}}));
}

TEST_F(WatchRunTest, AnOutputThatNothingWroteIsAWarning) {
  auto operands = std::make_shared<check::Operands>();
  operands->all = {{{"y", BufferRole::out, ElementType::f32, {4}, {}}, {}},
                   {{"scratch", BufferRole::workspace, ElementType::f32, {4}, {}}, {}},
                   {{"longer", BufferRole::out, ElementType::f32, {4}, {}, {}, true}, {}}};
  run_.launch.operands = operands;
  device_.name = "y";
  device_.bytes = 16;
  device_.unwritten = {{"y", 8, 4, "k.cu:7"}, {"scratch", 0, 16, ""}, {"longer", 8, 8, "k.cu:8"}};
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 1u) << "a workspace is no output, and of a guessed length nothing is known";
  EXPECT_EQ(all.findings[0].rule, RuleId::output_unwritten);
  EXPECT_EQ(all.findings[0].severity, Severity::warning);
  EXPECT_EQ(all.findings[0].sentence,
            "1 element of y is never written, the first is element 2; its neighbour is stored at k.cu:7.");
  EXPECT_EQ(all.findings[0].where,
            (std::map<std::string, std::string>{{"buffer", "y"}, {"element", "2"}, {"file", "k.cu"}, {"line", "7"}}));
  device_.unwritten = {{"y", 0, 16, ""}};
  EXPECT_EQ(report().findings.at(0).sentence,
            "4 elements of y are never written, the first is element 0; nothing stores to it.");
  EXPECT_EQ(report().findings.at(0).severity, Severity::warning);
  device_.unwritten = {{"y", 8, 8, "k.cu:7"}};
  EXPECT_EQ(report().findings.at(0).severity, Severity::info)
      << "longer than what is stored, as host code allocates it";
  device_.unwritten = {{"y", 4, 8, "k.cu:7"}};
  EXPECT_EQ(report().findings.at(0).severity, Severity::warning) << "a gap";
}

// The rest of a vector that nothing wrote counts if other contents change the output and nothing else explains it.
TEST_F(WatchRunTest, ASuspectedReadIsToldIfTheOutputDependsOnIt) {
  device_.suspected = {of_kind(WatchKind::shared_part_never_written, "a part")};
  EXPECT_TRUE(report().findings.empty());
  change_where([](const device::Trial& trial) { return trial.shared_fill == kNan; });
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.findings[0].rule, RuleId::never_written_shared);
  EXPECT_EQ(all.findings[0].severity, Severity::error);
  EXPECT_EQ(all.findings[0].sentence, "a part");
  EXPECT_EQ(all.findings[1].rule, RuleId::luck_fill);
  device_.findings = {of_kind(WatchKind::shared_write_read, "a race")};
  for (const Finding& finding : report().findings) EXPECT_NE(finding.sentence, "a part");
}

TEST_F(WatchRunTest, OtherContentsThatChangeTheOutputAreAWarningWithoutAVerdict) {
  change_where([](const device::Trial& trial) { return trial.shared_fill == kLarge && trial.order_seed == 0; });
  const WatchReport all = report();
  ASSERT_EQ(all.findings.size(), 1u);
  const Finding& finding = all.findings[0];
  EXPECT_EQ(finding.rule, RuleId::luck_fill);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(
      finding.sentence,
      "Not the same every time: with shared memory full of 1e30, 1 element of o has other bits; 1 of 3 contents of "
      "shared memory change the output.");
  EXPECT_EQ(finding.where, (std::map<std::string, std::string>{{"buffer", "o"}, {"element", "7"}}));
  ASSERT_EQ(finding.evidence.size(), 2u);
  EXPECT_EQ(finding.evidence[0].name, "contents of shared memory that change the output");
  EXPECT_EQ(finding.evidence[0].value, 1);
  EXPECT_EQ(finding.evidence[1].name, "contents of shared memory tried");
  EXPECT_EQ(finding.evidence[1].value, 3);
  EXPECT_EQ(references_, 1);
}

TEST_F(WatchRunTest, EachKindOfContentsHasItsWords) {
  const std::pair<const char*, std::function<bool(const device::Trial&)>> kFills[] = {
      {"full of NaN", [](const device::Trial& trial) { return trial.shared_fill == kNan; }},
      {"full of random words", [](const device::Trial& trial) { return trial.random_fill != 0; }}};
  for (const auto& [words, when] : kFills) {
    change_where(when);
    EXPECT_THAT(report().findings.at(0).sentence, HasSubstr(words));
  }
}

TEST_F(WatchRunTest, OtherOrdersSayWhichAndHowTheyBegan) {
  change_where([](const device::Trial& trial) { return trial.order_seed >= 4; });
  Finding finding = report().findings.at(0);
  EXPECT_EQ(finding.rule, RuleId::luck_order);
  EXPECT_EQ(
      finding.sentence,
      "Not the same every time: with the warps in order 4, 1 element of o has other bits; 5 of 8 orders of the warps "
      "change the output.");
  change_where([](const device::Trial& trial) { return trial.order_seed == 5; });
  EXPECT_THAT(report().findings.at(0).sentence, HasSubstr("in order 5 and shared memory full of 1e30, 1 element"));
}

TEST_F(WatchRunTest, TheFirstOfSeveralElementsIsNamed) {
  device_.change = [](const device::Trial& trial, std::span<std::byte> output) {
    if (trial.order_seed == 2) output[2 * 30] = output[2 * 20] = output[2 * 20 + 1] = std::byte{1};
    return std::optional<Failure>();
  };
  const Finding finding = report().findings.at(0);
  EXPECT_THAT(finding.sentence, HasSubstr("2 elements of o have other bits"));
  EXPECT_EQ(finding.where.at("element"), "20");
}

// An output that becomes wrong was right by luck, whichever run it was.
TEST_F(WatchRunTest, AnotherVerdictIsAnError) {
  judge_by(0);
  device_.change = [](const device::Trial& trial, std::span<std::byte> output) {
    if (trial.order_seed == 1) output[0] = std::byte{1};     // the smallest half: no other verdict
    if (trial.order_seed == 3) output[1] = std::byte{0x7c};  // infinite
    return std::optional<Failure>();
  };
  const Finding finding = report().findings.at(0);
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_THAT(finding.sentence, HasSubstr("Right by luck: with the warps in order 3, the output is wrong: "));
  EXPECT_THAT(finding.sentence, HasSubstr(", where the ordinary run's is correct; 2 of 8 orders"));
  judge_by(1);  // wrong either way
  const Finding same = report().findings.at(0);
  EXPECT_EQ(same.severity, Severity::warning);
  EXPECT_THAT(same.sentence, HasSubstr("in order 1, 1 element of o has other bits; 2 of 8"));
}

TEST_F(WatchRunTest, ARunThatFailsIsAnErrorUnlessItWasCancelled) {
  device_.change = [](const device::Trial& trial, std::span<std::byte>) {
    return trial.shared_fill == kNan ? std::optional(Failure{Stage::launch, "an illegal address", ""}) : std::nullopt;
  };
  const Finding finding = report().findings.at(0);
  EXPECT_EQ(finding.rule, RuleId::luck_fill);
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_THAT(finding.sentence, HasSubstr("Right by luck: with shared memory full of NaN, an illegal address; 1 of 3"));
  EXPECT_FALSE(finding.where.contains("element"));
  for (const uint64_t order : {0, 1, 8}) {
    device_.change = [order](const device::Trial& trial, std::span<std::byte>) {
      const bool now = order == 0 ? trial.random_fill != 0 : trial.order_seed == order;
      return now ? std::optional(Failure{Stage::cancelled, "cancelled", ""}) : std::nullopt;
    };
    const auto stopped = watch_kernel(run_);
    ASSERT_FALSE(stopped) << order;
    EXPECT_EQ(stopped.error().stage, Stage::cancelled);
  }
}

TEST_F(WatchRunTest, TheWatchedRunsOwnFailureIsTheWatchs) {
  device_.change = [](const device::Trial& trial, std::span<std::byte>) {
    return trial.watch ? std::optional(Failure{Stage::launch, "an illegal address", ""}) : std::nullopt;
  };
  const auto failed = watch_kernel(run_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "an illegal address");
  EXPECT_EQ(device_.trials.size(), 1u);
}

TEST_F(WatchRunTest, WithoutAReferenceAChangeIsAWarningAndACancelEndsIt) {
  change_where([](const device::Trial& trial) { return trial.order_seed == 1; });
  run_.reference = []() -> ReferenceResult { return fail(Stage::limits, "too little memory", ""); };
  EXPECT_EQ(report().findings.at(0).severity, Severity::warning);
  run_.reference = []() -> ReferenceResult { return fail(Stage::cancelled, "cancelled", ""); };
  const auto stopped = watch_kernel(run_);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().stage, Stage::cancelled);
}

TEST_F(WatchRunTest, AReadOfWhatNothingWroteIsExcusedWhereNoContentsMatter) {
  device_.findings = {of_kind(WatchKind::shared_never_written, "a read."),
                      of_kind(WatchKind::local_never_written, "another.")};
  WatchReport all = report();
  EXPECT_EQ(all.findings.at(0).severity, Severity::warning);
  EXPECT_EQ(
      all.findings.at(0).sentence,
      "a read. The output does not depend on it: with 3 other contents of shared memory every bit stays the same.");
  EXPECT_EQ(all.findings.at(1).severity, Severity::error);
  EXPECT_EQ(all.findings.at(1).sentence, "another.");
  change_where([](const device::Trial& trial) { return trial.random_fill != 0; });
  all = report();
  EXPECT_EQ(all.findings.at(0).severity, Severity::error);
  EXPECT_EQ(all.findings.at(0).sentence, "a read.");
}

TEST(SharedNames, StaticOnesLieWhereThePtxSaysAndDynamicOnesBehindThem) {
  compile::Variant variant;
  variant.info.static_shared_bytes = 100;
  variant.shared.buffers = {{"a", "a", 0, 64}, {"b", "b", 64, 36}};
  const auto names = [&] { return shared_names(variant, {{"c", 48, false}, {"d", 16, false}}); };
  using Name = SharedPlace;
  variant.shared.placed = true;
  EXPECT_THAT(names(), ElementsAre(Name{"a", 0, 64}, Name{"b", 64, 36}, Name{"c", 112, 48}, Name{"d", 160, 16}));
  variant.shared.placed = false;
  EXPECT_THAT(names(), ElementsAre(Name{"c", 112, 48}, Name{"d", 160, 16}));
  variant.info.static_shared_bytes = 112;
  EXPECT_THAT(names(), ElementsAre(Name{"c", 112, 48}, Name{"d", 160, 16}));
}

}  // namespace
}  // namespace attnscope::worker
