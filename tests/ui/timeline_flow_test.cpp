// The Timeline panel: CTAs by SM, one SM's warps by state.
#include <algorithm>

#include "session/listings.h"
#include "support/made_up_timeline.h"
#include "ui/still_code.h"
#include "ui/still_session.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class AskedSession : public StillSession {
 public:
  using StillSession::StillSession;
  void request_timeline(Experiment, TimelineAsk ask) override { asked.push_back(ask); }
  std::vector<TimelineAsk> asked;
};

class TimelineFlow : public WindowFlow {
 protected:
  static std::string key_of(const session::Snapshot& snapshot) {
    return session::listing_key(hash_of(snapshot.focus.shown->experiment), TimelineAsk{});
  }
  AskedSession& open_still(session::Snapshot snapshot, ShotSize size = {1600, 900}) {
    auto made = std::make_unique<AskedSession>(std::move(snapshot));
    AskedSession& session = *made;
    session_ = std::move(made);
    open_window(size);
    bench_->ignore_kept_settings();
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      bench_->open_panel("Timeline");
      ctx->Yield(8);
    });
    return session;
  }
};

TEST_F(TimelineFlow, ItIsAskedForOnlyWhileItIsInSight) {
  session::Snapshot snapshot = snapshot_after({"m32_w4"});
  auto made = std::make_unique<AskedSession>(snapshot);
  AskedSession& session = *made;
  session_ = std::move(made);
  open_window({1600, 900});
  bench_->ignore_kept_settings();
  flow([&](ImGuiTestContext* ctx) {
    ctx->Yield(12);
    EXPECT_TRUE(session.asked.empty()) << "the panel is not in sight";
    bench_->open_panel("Timeline");
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("The run is being simulated"));
  });
  ASSERT_FALSE(session.asked.empty());
  EXPECT_EQ(session.asked.front(), TimelineAsk{});
}

TEST_F(TimelineFlow, ItShowsTheSmsAndTheStates) {
  AskedSession& session = open_still(with_timeline(snapshot_after({"m32_w4"}), testing_support::made_up_timeline()));
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("SM 1 of 3"));
    EXPECT_THAT(drawn, HasSubstr("CTAs by SM, 8 clocks"));
    EXPECT_THAT(drawn, HasSubstr("Warps of SM 1 by state"));
    EXPECT_THAT(drawn, HasSubstr("global memory 31 %")) << "2.25 of 7.25 columns";
    EXPECT_THAT(drawn, HasSubstr("modelled"));
  });
  EXPECT_TRUE(session.asked.empty()) << "it is there";
}

TEST_F(TimelineFlow, OfAGpusRunTheClocksAreAskedForByAClickAndStandBesideTheModel) {
  session::Snapshot snapshot = on_a_gpu(snapshot_after({"m32_w4"}));
  Listing modelled, measured;
  modelled.timeline = testing_support::made_up_timeline();
  measured.timeline = testing_support::made_up_clocks();
  snapshot.listings[key_of(snapshot)] = std::make_shared<const Listing>(std::move(modelled));
  AskedSession& session = open_still(snapshot);
  flow([&](ImGuiTestContext* ctx) {
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Warps of SM 1 by state"));
    EXPECT_TRUE(session.asked.empty()) << "nothing is launched before the click";
    ctx->ItemClick("//Timeline/measured");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("reads clocks is launched on the GPU"));
  });
  ASSERT_FALSE(session.asked.empty());
  EXPECT_TRUE(std::ranges::all_of(session.asked, &TimelineAsk::measured)) << "the session asks once for the same";
  snapshot.listings[session::listing_key(hash_of(snapshot.focus.shown->experiment), session.asked.front())] =
      std::make_shared<const Listing>(std::move(measured));
  close();
  open_still(snapshot);
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Timeline/measured");
    ctx->Yield(4);
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("CTAs by SM, measured, 8 clocks"));
    EXPECT_THAT(drawn, HasSubstr("CTAs by SM, modelled, 8 clocks"));
    EXPECT_THAT(drawn, HasSubstr("44 registers, the kernel has 40"));
    EXPECT_THAT(drawn, HasSubstr("Warps of SM 1, clocks 0 to 8"));
    EXPECT_THAT(drawn, Not(HasSubstr("global memory"))) << "no state was measured";
    ctx->ItemInputValue("//Timeline/##sm", 2);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Its clocks are on their way; the last timeline is shown"));
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Being simulated")));
    ctx->ItemClick("//Timeline/modelled");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("global memory 31 %")) << "the model's states are back";
  });
}

TEST_F(TimelineFlow, AnotherSmIsAskedForAndTheOldOneStaysNamed) {
  AskedSession& session = open_still(with_timeline(snapshot_after({"m32_w4"}), testing_support::made_up_timeline()));
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemInputValue("//Timeline/##sm", 2);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Warps of SM 1 by state")) << "until the other is there";
    EXPECT_THAT(drawn_words(ctx), HasSubstr("the last timeline is shown"));
  });
  ASSERT_FALSE(session.asked.empty());
  EXPECT_EQ(session.asked.back().sm, 2);
}

TEST_F(TimelineFlow, ClocksAreChosenByDraggingAndByKey) {
  SmTimeline longer = testing_support::made_up_timeline();
  longer.column = 1000;
  longer.clocks = 4000;
  AskedSession& session = open_still(with_timeline(snapshot_after({"m32_w4"}), longer));
  flow([&](ImGuiTestContext* ctx) {
    const ImRect warps = ctx->ItemInfo("//Timeline/##warps").RectFull;
    const float y = warps.GetCenter().y;
    ctx->MouseMoveToPos({warps.GetCenter().x, y});
    ctx->MouseDown(0);
    ctx->MouseMoveToPos({warps.Max.x - 2, y});
    ctx->MouseUp(0);
    ctx->Yield(4);
  });
  ASSERT_FALSE(session.asked.empty());
  EXPECT_GT(session.asked.back().from, 1000);
  EXPECT_LT(session.asked.back().from, 3000);
  EXPECT_GT(session.asked.back().to, 3500);
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Timeline/All clocks");
    ctx->Yield(4);
    ctx->ItemClick("//Timeline/+##zoom");
    ctx->Yield(4);
  });
  EXPECT_EQ(session.asked.back().from, 1000);
  EXPECT_EQ(session.asked.back().to, 3000);
}

TEST_F(TimelineFlow, ARefusalIsSaidWithItsWayOut) {
  session::Snapshot snapshot = snapshot_after({"m32_w4"});
  snapshot.refused_listings[key_of(snapshot)] = {Stage::input, "this worker does not keep that run", "Run it again."};
  AskedSession& session = open_still(std::move(snapshot), {1024, 640});
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("No timeline of this run"));
    EXPECT_THAT(drawn, HasSubstr("Run it again."));
  });
  EXPECT_TRUE(session.asked.empty());
}

}  // namespace
}  // namespace attnscope::ui
