// A as a ghost beside B, panel by panel.
#include <imgui_internal.h>

#include "session/listings.h"
#include "support/made_up_timeline.h"
#include "ui/still_code.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class GhostFlow : public StillWindow {
 protected:
  // What the window says with that panel in front, after a click on `button` if there is one.
  std::string words(session::Snapshot snapshot, const char* panel, ShotSize size = {2560, 1440},
                    const char* button = nullptr) {
    StillWindow::open_still<StillSession>(std::move(snapshot), size, panel);
    std::string drawn;
    flow([&](ImGuiTestContext* ctx) {
      if (button != nullptr) {
        ctx->ItemClick(button);
        ctx->Yield(4);
      }
      drawn = drawn_words(ctx);
    });
    return drawn;
  }
};

Finding race(int line) {
  Finding one;
  one.rule = RuleId::race_shared;
  one.severity = Severity::error;
  one.sentence = "Two warps meet in line " + std::to_string(line) + ".";
  one.where = {{"file", "02_tiled.cu"}, {"line", std::to_string(line)}, {"buffer", "K_tile"}};
  return one;
}

session::Snapshot two_runs(const std::function<void(uint64_t, Observation&)>& change) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  revise_runs(snapshot, change);
  return snapshot;
}

TEST_F(GhostFlow, TheErrorsFiguresAndTheVerdict) {
  const std::string drawn = words(two_runs([](uint64_t run, Observation& seen) {
                                    if (run != 1) return;
                                    seen.verdict->max_abs = 0.123;
                                    seen.verdict->state = VerdictState::wrong;
                                  }),
                                  "Error");
  EXPECT_THAT(drawn, HasSubstr("0.123"));
  EXPECT_THAT(drawn, HasSubstr("against fp64; A wrong"));
}

TEST_F(GhostFlow, ANarrowErrorPanelHasItsLimitsBelowTheFigures) {
  const std::string drawn = words(two_runs([](uint64_t, Observation&) {}), "Error", {1280, 720});
  EXPECT_THAT(drawn, HasSubstr("Limits: relative Frobenius"));
}

TEST_F(GhostFlow, WhatTheWatchFoundOfAOrOfBOnly) {
  const std::string drawn = words(two_runs([](uint64_t run, Observation& seen) {
                                    seen.watch.emplace().findings = {race(2), race(run == 1 ? 3 : 4)};
                                  }),
                                  "Error", {5120, 1440});
  EXPECT_THAT(drawn, HasSubstr("Race in K_tile: 02_tiled.cu:4 (new since A)"));
  EXPECT_THAT(drawn, Not(HasSubstr("02_tiled.cu:2 (new since A)")));
  EXPECT_THAT(drawn, HasSubstr("gone since A: Race in K_tile: 02_tiled.cu:3"));
}

TEST_F(GhostFlow, FindingsOfWhy) {
  session::Snapshot snapshot = snapshot_with_terms({race(2)});
  EXPECT_THAT(words(snapshot, "Why"), HasSubstr("new since A"));
  revise_runs(snapshot, [](uint64_t run, Observation& seen) {
    seen.findings = {};
    if (run == 1) seen.findings = {race(3)};
  });
  close_window();
  const std::string drawn = words(snapshot, "Why");
  EXPECT_THAT(drawn, HasSubstr("Findings that are gone since A"));
  EXPECT_THAT(drawn, HasSubstr("Two warps meet in line 3."));
}

TEST_F(GhostFlow, TheLinesOfATermAndOfAFinding) {
  Finding waits = race(2);
  waits.evidence = {{"idle", 75, "%", FigureKind::counted}};
  session::Snapshot snapshot = snapshot_with_terms();
  const std::string file = session::find_kernel(snapshot, "tiled")->source_name;
  waits.where["file"] = file;
  revise_runs(snapshot, [&](uint64_t run, Observation& seen) {
    seen.findings = {waits};
    if (run != 1) return;
    seen.findings.front().evidence.front().value = 50;
    seen.timing->terms->list[1].lines = {{0x20, file + ":2", 30, 0x30, file + ":3"},
                                         {0x40, file + ":1", 4, 0x40, file + ":1"}};
  });
  const std::string drawn = words(snapshot, "Why");
  EXPECT_THAT(drawn, HasSubstr(file + ":2 | 9.00 \u00b5s | A 30.00 \u00b5s"));
  EXPECT_THAT(drawn, HasSubstr(file + ":1 | \u2013 | A 4.00 \u00b5s")) << "only A lists it";
  EXPECT_THAT(drawn, HasSubstr("idle 75 % (A 50 %), counted"));
  EXPECT_THAT(drawn, HasSubstr("9.00 \u00b5s; A 30.00 \u00b5s")) << "the finding's line";
  revise_runs(snapshot, [](uint64_t run, Observation& seen) {
    if (run == 1) seen.experiment.kernel_hash = "another source";
  });
  close_window();
  const std::string other = words(snapshot, "Why");
  EXPECT_THAT(other, HasSubstr("; A has another source"));
  EXPECT_THAT(other, Not(HasSubstr("| A 30.00 \u00b5s")));
}

// A's listing of snapshot_with_code(), with twice the counts.
session::Snapshot with_more_of_a(session::Snapshot snapshot, const std::string& hash_a) {
  auto code = std::make_shared<Listing>(*snapshot.listings.at(hash_a));
  for (CodeLine& line : code->lines) {
    line.counts->issued *= 2;
    line.counts->us *= 2;
  }
  snapshot.listings[hash_a] = code;
  return snapshot;
}

TEST_F(GhostFlow, TheRowsOfTheMachineCode) {
  session::Snapshot snapshot = snapshot_with_code();
  snapshot = with_more_of_a(std::move(snapshot), hash_of(snapshot.history.at(0).observation->experiment));
  StillWindow::open_still<StillSession>(std::move(snapshot), {2560, 1440}, "Source");
  flow([&](ImGuiTestContext* ctx) {
    const auto told = [&](const char* row) {
      ctx->MouseMove(row);
      ctx->SleepNoSkip(1, 0.1f);
      return drawn_words(ctx);
    };
    ctx->ItemClick("//Source/SASS");
    ctx->Yield(2);
    EXPECT_THAT(told("//Source/**/##sass0"), HasSubstr("time: 7.00 \u00b5s; A 14.00 \u00b5s"));
    EXPECT_THAT(told("//Source/**/##sass1"), HasSubstr("A does not have this instruction."));
    EXPECT_THAT(told("//Source/**/##sass2"), HasSubstr("time: 1.00 \u00b5s; A 2.00 \u00b5s"))
        << "whatever its registers";
  });
}

TEST_F(GhostFlow, OfAnotherSourceOnlyTheMachineCode) {
  session::Snapshot snapshot = snapshot_with_code();
  const auto code_a = snapshot.listings.at(hash_of(snapshot.history.at(0).observation->experiment));
  revise_runs(snapshot, [](uint64_t run, Observation& seen) {
    if (run == 1) seen.experiment.kernel_hash = "another source";
  });
  snapshot.listings[hash_of(snapshot.history.at(0).observation->experiment)] = code_a;
  StillWindow::open_still<StillSession>(std::move(snapshot), {5120, 1440}, "Source");
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/SASS");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("A has another source: only its SASS is beside B's"));
    ctx->MouseMove("//Source/**/##sass0");
    ctx->SleepNoSkip(1, 0.1f);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("; A 7.00 \u00b5s"));
    ctx->MouseMove("//Source/**/##line2");
    ctx->SleepNoSkip(1, 0.1f);
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("; A 10.00"))) << "its lines are others";
  });
}

TEST_F(GhostFlow, TheSoftmaxAfterTheSameKeys) {
  session::Snapshot snapshot = snapshot_with_softmax_of_both();
  const std::string key = softmax_key_of_a(snapshot);
  const auto drawn = [&] { return words(snapshot, "Source", {5120, 1440}, "//Source/Softmax"); };
  const std::string beside = drawn();
  EXPECT_THAT(beside, HasSubstr("A: m 1.25, l 1.75; fp64"));
  EXPECT_THAT(beside, HasSubstr("| 2 | 4\u20136 | 3 | 3.5 | 0.1353 | 1.25 | 2.5 |")) << "the second tile's row";
  EXPECT_THAT(beside, HasSubstr("Scores by key, ticks A's; lines"));
  close_window();
  snapshot.listings.erase(key);
  snapshot.refused_listings[key] = {Stage::input, "its manifest does not say where m is", ""};
  EXPECT_THAT(drawn(), HasSubstr("A: its manifest does not say where m is; fp64"));
}

TEST_F(GhostFlow, TheTilesOfTheAttentionMatrix) {
  const auto of_tiles = [](int64_t rows, int64_t heads) {
    return two_runs([&](uint64_t run, Observation& seen) {
      if (run != 1) return;
      seen.experiment.config.knobs["BLOCK_M"] = rows;
      if (heads > 0) seen.experiment.problem.heads = heads;
    });
  };
  EXPECT_THAT(words(of_tiles(64, 0), "Attention"), HasSubstr("; A 64 \u00d7 "));
  close_window();
  EXPECT_THAT(words(of_tiles(32, 0), "Attention"), HasSubstr("; A the same"));
  close_window();
  const std::string other = words(of_tiles(64, 4), "Attention");
  EXPECT_THAT(other, HasSubstr("A is another problem"));
  EXPECT_THAT(other, Not(HasSubstr("; A 64")));
}

TEST_F(GhostFlow, BuffersRegistersAndWaves) {
  const std::string drawn = words(two_runs([](uint64_t run, Observation& seen) {
                                    seen.variant->registers = run == 1 ? 71 : 72;
                                    if (run == 1) seen.occupancy->total_ctas *= 3;
                                  }),
                                  "Shared memory");
  EXPECT_THAT(drawn, HasSubstr("A 71"));
  EXPECT_THAT(drawn, HasSubstr("A: 384 CTAs for"));
}

TEST_F(GhostFlow, TheSimulationOfA) {
  session::Snapshot snapshot = with_timeline(snapshot_after({"m32_w4", "m32_w8"}), testing_support::made_up_timeline());
  SmTimeline of_a = testing_support::made_up_timeline();
  of_a.clocks *= 2;
  Listing listing;
  listing.timeline = of_a;
  const Observation& a = *snapshot.history.at(0).observation;
  snapshot.listings[session::listing_key(hash_of(a.experiment), TimelineAsk{})] = session::share(std::move(listing));
  const std::string drawn = words(snapshot, "Timeline");
  EXPECT_THAT(drawn, HasSubstr("; A "));
  EXPECT_THAT(drawn, HasSubstr(" % (A "));
}

TEST_F(GhostFlow, TheClocksOfA) {
  session::Snapshot snapshot = snapshot_with_clocks_of_both();
  const auto drawn = [&] { return words(snapshot, "Timeline", {5120, 1440}, "//Timeline/measured"); };
  EXPECT_THAT(drawn(), HasSubstr("; A 17 clocks"));
  close_window();
  const Experiment& a = snapshot.history.at(0).observation->experiment;
  auto& of_a = snapshot.listings.at(session::listing_key(hash_of(a), TimelineAsk{.measured = true}));
  Listing other_launch = *of_a;
  other_launch.timeline->launch = "row_sum";
  of_a = session::share(std::move(other_launch));
  const std::string other = drawn();
  EXPECT_THAT(other, HasSubstr("A has no timeline: A's is of another launch: row_sum"));
  EXPECT_THAT(other, Not(HasSubstr("; A 17 clocks")));
}

TEST_F(GhostFlow, TheLinesOfSourceWavefrontsAndMatrices) {
  StillWindow::open_still<StillSession>(with_a_product(with_banks(snapshot_with_code())), {5120, 1440}, "Source");
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Banks");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("line 2: 0 wavefronts, 0 of them conflicts; A none"));
    ctx->ItemClick("//Source/Fragments");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("A has no matrices at this line."));
    ctx->MouseMove("//Source/**/##line2");
    ctx->SleepNoSkip(1, 0.1f);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("; A 10.00 \u00b5s"));
  });
}

TEST_F(GhostFlow, WhereACannotStandBesideBThePanelsSayWhy) {
  const std::string drawn = words(two_runs([](uint64_t run, Observation& seen) {
                                    if (run == 1) seen.experiment.problem.heads = 4;
                                  }),
                                  "Counters");
  EXPECT_THAT(drawn, HasSubstr("A is another problem: B1 H4"));
}

}  // namespace
}  // namespace attnscope::ui
