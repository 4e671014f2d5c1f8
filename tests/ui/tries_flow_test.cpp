// Runs on the side what findings propose; the finding then says how it went.
#include "ui/still_session.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Set = std::map<std::string, int64_t>;

// Answers a request for a config at once, with the shown run's time times `ratio`.
class TryingSession : public StillSession {
 public:
  explicit TryingSession(session::Snapshot snapshot) : StillSession(snapshot), now_(session::share(snapshot)) {}
  session::Shared<session::Snapshot> snapshot() const override { return now_; }
  void request_view(ViewRequest) override {}
  void scan(session::ScanRequest request) override {
    asked.push_back(request.set);
    if (ratio == 0) return;
    const Observation& shown = *now_->focus.shown;
    Scan scan{request.id, shown.experiment, {}, {}};
    ScanPoint& point = scan.points.emplace_back();
    point.config = shown.experiment.config;
    for (const auto& [knob, value] : request.set) point.config.knobs[knob] = value;
    auto run = std::make_shared<Observation>(shown);
    run->experiment.config = point.config;
    run->timing->p50 *= ratio;
    point.observation = std::move(run);
    change([&](session::Snapshot& next) { next.scans.push_back(session::share(std::move(scan))); });
  }
  void change(const std::function<void(session::Snapshot&)>& how) {
    auto next = std::make_shared<session::Snapshot>(*now_);
    how(*next);
    ++next->version;
    now_ = std::move(next);
  }

  std::vector<Set> asked;
  double ratio = 0;  // 0: no answer

 private:
  session::Shared<session::Snapshot> now_;
};

class TriesFlow : public WindowFlow {
 protected:
  // A run whose findings propose these configs.
  static session::Snapshot proposing(const std::vector<Set>& sets) {
    session::Snapshot snapshot = snapshot_after({"m32_w4", "m16_w4"});
    auto chunk = std::make_shared<session::HistoryChunk>(*snapshot.history.chunks.front());
    for (session::HistoryEntry& entry : chunk->entries) {
      auto seen = std::make_shared<Observation>(*entry.observation);
      seen->experiment.kernel_hash = session::find_kernel(snapshot, "tiled")->content_hash;
      if (entry.id == 2)
        for (const Set& set : sets) {
          Finding& found = seen->findings.emplace_back();
          found.sentence = "It waits.";
          found.next = Next{set};
        }
      entry.observation = std::move(seen);
    }
    snapshot.focus.shown = chunk->entries.back().observation;
    snapshot.history.chunks = {chunk};
    return snapshot;
  }
  TryingSession& open_trying(session::Snapshot snapshot, double ratio, bool tries = true) {
    auto made = std::make_unique<TryingSession>(std::move(snapshot));
    TryingSession& session = *made;
    session.ratio = ratio;
    session_ = std::move(made);
    open_window({1600, 900});
    bench_->ignore_kept_settings();
    bench_->settings().tries = tries;
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      bench_->open_panel("Why");
      ctx->Yield(8);
    });
    return session;
  }
};

TEST_F(TriesFlow, WhatFindingsProposeIsTriedOnceAndAtMostThree) {
  const TryingSession& session = open_trying(
      proposing({{{"NUM_WARPS", 8}}, {{"NUM_WARPS", 8}}, {{"VEC_WIDTH", 8}}, {{"NUM_WARPS", 2}}, {{"BLOCK_N", 32}}}),
      0.5);
  EXPECT_THAT(session.asked, ElementsAre(Set{{"NUM_WARPS", 8}}, Set{{"VEC_WIDTH", 8}}, Set{{"NUM_WARPS", 2}}));
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("tried: 2.00 times")); });
}

TEST_F(TriesFlow, ACureThatCostsSaysSo) {
  open_trying(proposing({{{"NUM_WARPS", 8}}}), 2);
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("tried: slower")); });
}

TEST_F(TriesFlow, ItCanBeTurnedOff) {
  const TryingSession& session = open_trying(proposing({{{"NUM_WARPS", 8}}}), 0.5, false);
  EXPECT_THAT(session.asked, IsEmpty());
  flow([&](ImGuiTestContext* ctx) {
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("tried:")));
    ctx->MenuClick("//##MainMenuBar/Run/Try what findings propose");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("tried: 2.00 times"));
  });
  EXPECT_TRUE(bench_->settings().tries);
}

TEST_F(TriesFlow, ARunOfTheHistoryIsNotRepeated) {
  const TryingSession& session = open_trying(proposing({{{"BLOCK_M", 32}}}), 0.5);
  EXPECT_THAT(session.asked, IsEmpty());
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("tried: ")); });
}

TEST_F(TriesFlow, ItWaitsForARunAndAsksAgainForWhatTheRunEnded) {
  session::Snapshot snapshot = proposing({{{"NUM_WARPS", 8}}});
  snapshot.focus.running = true;
  TryingSession& session = open_trying(std::move(snapshot), 0);
  EXPECT_THAT(session.asked, IsEmpty());
  const auto run = [&](bool running) {
    session.change([&](session::Snapshot& next) { next.focus.running = running; });
    flow([&](ImGuiTestContext* ctx) { ctx->Yield(4); });
  };
  run(false);
  EXPECT_EQ(session.asked.size(), 1u);
  run(true);
  run(false);
  EXPECT_EQ(session.asked.size(), 2u) << "the session ends it when another experiment is wanted";
}

}  // namespace
}  // namespace attnscope::ui
