// Source > Softmax: a row's online softmax, stepped.
#include "ui/still_code.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class AskedSession : public StillSession {
 public:
  using StillSession::StillSession;
  void request_softmax(Experiment experiment, SoftmaxRow row) override {
    (experiment == snapshot()->focus.shown->experiment ? asked : asked_of_a).push_back(row);
  }
  session::Shared<session::Snapshot> snapshot() const override { return later ? later : StillSession::snapshot(); }
  std::vector<SoftmaxRow> asked, asked_of_a;  // of the shown run, and of the others
  session::Shared<session::Snapshot> later;   // null: the first one stays
};

class SoftmaxFlow : public StillWindow {
 protected:
  AskedSession& open_still(session::Snapshot snapshot, ShotSize size = {2560, 1440}) {
    AskedSession& session = StillWindow::open_still<AskedSession>(std::move(snapshot), size, "Source");
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Source/Softmax");
      ctx->Yield(4);
    });
    return session;
  }
};

TEST_F(SoftmaxFlow, ARowIsSteppedTileByTile) {
  AskedSession& session = open_still(snapshot_with_softmax(), {5120, 1440});  // the tiles beside the bars
  flow([&](ImGuiTestContext* ctx) {
    std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("m  -inf \u2192 1"));
    EXPECT_THAT(drawn, HasSubstr("tile 1 of 2"));
    ctx->ItemClick("//Source/**/>##tile");
    ctx->Yield(3);
    drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("m  1 \u2192 3"));
    EXPECT_THAT(drawn, HasSubstr("1.5 x 0.1353 + 1.047 = 1.25")) << "the kernel's own numbers";
    EXPECT_THAT(drawn, HasSubstr("A larger score"));
    EXPECT_THAT(drawn, HasSubstr("fp64: m 3, l 1.203"));
    ctx->ItemClick("//Source/**/1##tile1");
    ctx->Yield(3);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("tile 1 of 2"));
    ctx->ItemClick("//Source/**/###l");
    ctx->Yield(3);
    EXPECT_EQ(bench_->source_line(), 3) << "the line that wrote l";
  });
  EXPECT_TRUE(session.asked.empty()) << "it is there";
  ASSERT_FALSE(session.asked_of_a.empty()) << "A's is beside it";
  EXPECT_EQ(session.asked_of_a.front(), SoftmaxRow{});
}

TEST_F(SoftmaxFlow, AnotherRowIsAskedForAndTheOldOneStaysNamed) {
  AskedSession& session = open_still(snapshot_with_softmax());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemInputValue("//Source/**/##row", 17);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("this is batch 0, head 0, row 0"));
  });
  ASSERT_FALSE(session.asked.empty());
  EXPECT_EQ(session.asked.back(), (SoftmaxRow{0, 0, 17}));
}

TEST_F(SoftmaxFlow, AnotherRunsNumbersDoNotStay) {
  session::Snapshot snapshot = snapshot_with_softmax();
  AskedSession& session = open_still(snapshot);
  snapshot.focus.shown = snapshot.history.at(0).observation;
  ++snapshot.version;
  session.later = session::share(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    ctx->Yield(6);
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("m  -inf")));
  });
  EXPECT_FALSE(session.asked.empty());
}

TEST_F(SoftmaxFlow, ARefusalIsSaidWithItsWayOut) {
  session::Snapshot snapshot = snapshot_with_softmax();
  snapshot.listings.clear();
  snapshot.refused_listings[softmax_key(snapshot)] = {Stage::input, "its manifest does not say where m is", "Add it."};
  AskedSession& session = open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("its manifest does not say where m is"));
    EXPECT_THAT(drawn, HasSubstr("Add it."));
    EXPECT_THAT(drawn, Not(HasSubstr("tile 1 of")));
  });
  EXPECT_TRUE(session.asked.empty());
  EXPECT_TRUE(session.asked_of_a.empty()) << "there is nothing to show it beside";
}

TEST_F(SoftmaxFlow, TilesThatAreNotKeptAreSaid) {
  session::Snapshot snapshot = snapshot_with_softmax();
  Listing listing;
  listing.softmax = two_softmax_tiles();
  listing.softmax->visible = 100;
  snapshot.listings[softmax_key(snapshot)] = std::make_shared<const Listing>(std::move(listing));
  open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("tile 1 of the first 2")); });
}

TEST_F(SoftmaxFlow, ANarrowPanelHasItToo) {
  open_still(snapshot_with_softmax(), {1024, 640});
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("m  -inf \u2192 1")); });
}

}  // namespace
}  // namespace attnscope::ui
