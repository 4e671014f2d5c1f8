#include "cli/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_changes.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Finding finding_at(RuleId rule, Severity severity, const char* line, const char* sentence) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.sentence = sentence;
  if (line != nullptr) finding.where = {{"file", "k.cu"}, {"line", line}};
  return finding;
}

Observation watched(std::vector<Finding> findings, int64_t ctas = 16, int64_t total = 16) {
  Observation o;
  o.versions.app = "0.1.0";
  o.watch = WatchReport{ctas, total, 3, 8, std::move(findings), {}};
  return o;
}

const SourceFile kSource{SourceLines("k.cu"), "src/my kernel.cu"};

TEST(Findings, StandAtTheLinesOfTheFileThatWasGiven) {
  Observation o = watched({finding_at(RuleId::luck_order, Severity::warning, nullptr, "Not the same every time"),
                           finding_at(RuleId::race_shared, Severity::error, "12", "Race: …")});
  o.watch->findings[1].where["other_file"] = "k.cu";
  o.watch->findings[1].where["other_line"] = "9";
  const auto all = located(o, kSource);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(line_of(all[0]), "src/my kernel.cu:12: error: Race: … [race.shared, racecheck]");
  EXPECT_EQ(line_of(all[1]), "warning: Not the same every time [luck.order]");
  EXPECT_EQ(all[0].other_line, 9);
}

TEST(Findings, AFaultThatEndsTheRunIsOneToo) {
  Observation o;
  o.failure = Failure{Stage::launch, "k: k.cu:1: no, k.cu:x and k.cu:23: reads 4 bytes behind x", ""};
  EXPECT_EQ(line_of(located(o, kSource).at(0)),
            "src/my kernel.cu:1: error: k: k.cu:1: no, k.cu:x and k.cu:23: reads 4 bytes behind x [launch, memcheck]");
  o.failure = Failure{Stage::compile, "out of range k.cu:0 k.cu:99999999999999999999", ""};
  EXPECT_EQ(located(o, kSource).at(0).line, 0);
  EXPECT_EQ(located(o, {}).at(0).line, 0) << "a source without a name stands nowhere";
}

// Headers are pasted into the source that runs; the user has the original files.
TEST(Findings, StandInTheHeaderThatTheLineCameFrom) {
  const SourceFile whole{
      SourceLines("whole_k.cu", "#line 1 \"k.cu\"\n#line 1 \"../common/x.h\"\n\n\n\n#line 4 \"k.cu\"\n\n"), "src/k.cu"};
  Observation o = watched({finding_at(RuleId::race_shared, Severity::error, "3", "Race: ../common/x.h:3 and k.cu:5.")});
  o.watch->findings[0].where = {{"file", "../common/x.h"}, {"line", "3"}, {"other_file", "k.cu"}, {"other_line", "5"}};
  const Located one = located(o, whole).at(0);
  EXPECT_EQ(line_of(one), "common/x.h:3: error: Race: ../common/x.h:3 and k.cu:5. [race.shared, racecheck]");
  EXPECT_EQ(one.other_file, "src/k.cu");
  EXPECT_EQ(one.other_line, 5);
  o = {};
  o.failure = Failure{Stage::compile, "after ../common/x.h:2, k.cu:2: expected a ;", ""};
  EXPECT_EQ(located(o, whole).at(0).file, "common/x.h");
  EXPECT_EQ(located(o, whole).at(0).line, 2);
}

// A user cannot change CUDA's headers, so the finding points at the line that calls them.
TEST(Findings, StandAtTheLineThatCallsALibrary) {
  Observation o = watched({finding_at(RuleId::race_shared, Severity::error, "203",
                                      "Race: LDS at k.cu:21, then LDGSTS at pipe.h:203, 4 calls below k.cu:17.")});
  o.watch->findings[0].where = {{"file", "pipe.h"}, {"line", "203"}, {"other_file", "k.cu"}, {"other_line", "21"}};
  const Located one = located(o, kSource).at(0);
  EXPECT_EQ(one.file, "src/my kernel.cu");
  EXPECT_EQ(one.line, 17);
  EXPECT_EQ(one.other_line, 21);
  o.watch->findings[0].sentence = "Race: LDS at k.cu:21, then LDGSTS at pipe.h:203.";
  EXPECT_EQ(located(o, kSource).at(0).file, "pipe.h") << "no line of the source is known to call it";
}

TEST(Findings, AVariableThatTheCompilerFindsUnsetIsOne) {
  Observation o = watched({finding_at(RuleId::race_shared, Severity::error, "12", "Race")});
  o.variant.emplace();
  o.variant->log =
      "k.cu(3): warning #177-D: variable \"a\" was declared but never referenced\n  float a;\n        ^\n\n"
      "k.cu(7): warning #549-D: variable \"z\" is used before its value is set\n    z = z + 1;\n        ^\n\n"
      "): warning #549-D: no place";
  const auto all = located(o, kSource);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(line_of(all[0]), "src/my kernel.cu:12: error: Race [race.shared, racecheck]");
  EXPECT_EQ(line_of(all[1]),
            "src/my kernel.cu:7: warning: The compiler: variable \"z\" is used before its value is set. "
            "[never_written.local, initcheck]");
  o.watch.reset();
  EXPECT_EQ(located(o, kSource).size(), 1u);
}

TEST(Findings, EachKindHasComputeSanitizersTool) {
  const auto tool = [](RuleId rule) {
    return tool_of(located(watched({finding_at(rule, Severity::error, "1", "")}), kSource).at(0));
  };
  EXPECT_EQ(tool(RuleId::race_grid), "racecheck");
  EXPECT_EQ(tool(RuleId::barrier_uneven), "synccheck");
  EXPECT_EQ(tool(RuleId::shuffle_absent), "synccheck");
  EXPECT_EQ(tool(RuleId::never_written_local), "initcheck");
  EXPECT_EQ(tool(RuleId::luck_fill), "");
}

TEST(Findings, AWatchIsWholeIfItSawEveryCta) {
  EXPECT_TRUE(is_whole(watched({})));
  EXPECT_FALSE(is_whole(watched({}, 8, 16)));
  EXPECT_FALSE(is_whole(Observation{}));
}

// The properties that the SARIF 2.1.0 schema requires, and those that code review needs to show a finding.
TEST(Sarif, HasWhatTheStandardRequires) {
  const Json log = sarif_of(watched({finding_at(RuleId::race_shared, Severity::error, "12", "Race"),
                                     finding_at(RuleId::race_shared, Severity::error, "14", "Race"),
                                     finding_at(RuleId::luck_order, Severity::warning, nullptr, "Luck")}),
                            kSource);
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1u);
  const Json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "attnscope");
  EXPECT_EQ(run["tool"]["driver"]["version"], "0.1.0");
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
  ASSERT_EQ(run["results"].size(), 3u);
  const Json& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), 2u) << "each rule once";
  for (const Json& result : run["results"]) {
    EXPECT_TRUE(result["message"]["text"].is_string());
    EXPECT_THAT((std::vector<std::string>{"error", "warning", "note"}),
                testing::Contains(result["level"].get<std::string>()));
    EXPECT_TRUE(
        std::any_of(rules.begin(), rules.end(), [&](const Json& rule) { return rule["id"] == result["ruleId"]; }));
  }
  const Json& place = run["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "src/my%20kernel.cu");
  EXPECT_EQ(place["region"]["startLine"], 12);
  EXPECT_FALSE(run["results"][2].contains("locations")) << "it has no line";
  EXPECT_FALSE(run["invocations"][0].contains("toolExecutionNotifications"));
}

TEST(Sarif, SaysThatARunFailedOrWasNotWhole) {
  Observation o = watched({}, 8, 16);
  const Json part = sarif_of(o, kSource)["runs"][0];
  EXPECT_EQ(part["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"], "8 of 16 CTAs were watched");
  EXPECT_EQ(part["results"], Json::array());
  o.failure = Failure{Stage::compile, "k.cu:3: expected a ;", ""};
  const Json failed = sarif_of(o, kSource)["runs"][0];
  EXPECT_EQ(failed["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(failed["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
}

TEST(RunChanges, NameWhatIsNewAndWhatIsGone) {
  Observation before = watched({finding_at(RuleId::race_shared, Severity::error, "12", "Race: k.cu:12, thread 3"),
                                finding_at(RuleId::luck_order, Severity::warning, nullptr, "Luck")});
  before.verdict.emplace().state = VerdictState::wrong;
  before.timing.emplace().p50 = 20;
  before.counters.emplace().instructions["total"] = 1000;
  EXPECT_EQ(changes_of(before, before, kSource), "  nothing changed\n");
  Observation after = before;
  after.watch->findings = {finding_at(RuleId::race_shared, Severity::error, "15", "Race: k.cu:15, thread 31"),
                           finding_at(RuleId::barrier_uneven, Severity::error, "16", "Uneven barrier: k.cu:16")};
  after.counters->instructions["total"] = 900;
  const std::string text = changes_of(before, after, kSource);
  EXPECT_THAT(text, HasSubstr("  new: src/my kernel.cu:16: error: Uneven barrier"));
  EXPECT_THAT(text, HasSubstr("  gone: warning: Luck"));
  EXPECT_THAT(text, HasSubstr("warp instructions: 1,000 -> 900"));
  EXPECT_THAT(text, Not(HasSubstr("Race"))) << "it only moved";
  after = before;
  after.watch->findings.pop_back();
  after.watch->findings.push_back(before.watch->findings[0]);
  EXPECT_THAT(changes_of(before, after, kSource), HasSubstr("new: src/my kernel.cu:12")) << "a second one";
}

TEST(RunChanges, ARunInALine) {
  Observation o = watched({finding_at(RuleId::luck_order, Severity::warning, nullptr, "Luck")});
  o.verdict.emplace().state = VerdictState::correct;
  o.timing.emplace().p50 = 12.34;
  o.timing->kind = FigureKind::modelled;
  EXPECT_EQ(summary_of(o, kSource), "correct, 12.34 us modelled, 1 finding");
  Observation failed;
  failed.failure = Failure{Stage::compile, "no", ""};
  EXPECT_EQ(summary_of(failed, kSource), "failed, 0 findings");
}

// Neither stores, atomics nor prints: "clean" would be said of nothing.
TEST(Findings, ARunWithoutAStoreShowsNothing) {
  Observation o;
  EXPECT_FALSE(stores_nothing(o)) << "nothing was counted";
  o.counters = Counters{};
  EXPECT_TRUE(stores_nothing(o));
  o.counters->sampled_fraction = 0.5;
  EXPECT_FALSE(stores_nothing(o)) << "the other CTAs may store";
  o.counters->sampled_fraction = 1;
  o.counters->instructions["atomic"] = 1;
  EXPECT_FALSE(stores_nothing(o));
  o.counters->instructions.clear();
  o.counters->global_store_sectors = 1;
  EXPECT_FALSE(stores_nothing(o));
  o.counters->global_store_sectors = 0;
  o.failure = Failure{Stage::launch, "it stopped", ""};
  EXPECT_FALSE(stores_nothing(o));
  o.failure.reset();
  o.printed = Printed{};
  EXPECT_FALSE(stores_nothing(o));
}

}  // namespace
}  // namespace attnscope::cli
