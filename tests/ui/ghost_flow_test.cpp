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
  // What the window says with that panel in front.
  std::string words(session::Snapshot snapshot, const char* panel, ShotSize size = {2560, 1440}) {
    StillWindow::open_still<StillSession>(std::move(snapshot), size, panel);
    std::string drawn;
    flow([&](ImGuiTestContext* ctx) { drawn = drawn_words(ctx); });
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
