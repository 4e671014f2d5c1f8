// Source > Softmax: a row's online softmax, stepped.
#include <algorithm>
#include <limits>

#include "session/listings.h"
#include "ui/still_session.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class AskedSession : public StillSession {
 public:
  using StillSession::StillSession;
  void request_softmax(Experiment, SoftmaxRow row) override { asked.push_back(row); }
  session::Shared<session::Snapshot> snapshot() const override { return later ? later : StillSession::snapshot(); }
  std::vector<SoftmaxRow> asked;
  session::Shared<session::Snapshot> later;  // null: the first one stays
};

// Two tiles of four keys; the second raises the maximum.
SoftmaxSteps steps_of(const SoftmaxRow& row) {
  SoftmaxSteps made;
  made.row = row;
  made.keys = 4;
  made.visible = 7;
  made.head_dim = 3;
  made.m = {1, 3};
  made.l = {1.5f, 1.25f};
  made.exact_m = made.m;
  made.exact_l = {1.5f, 1.203f};
  made.scores = {1, 0.25f, -2, 0.5f, 3, 1, 2, -std::numeric_limits<float>::infinity()};
  made.weights = {1, 0.5f, 0.05f, 0.6f, 1, 0.1f, 0.4f, 0};
  made.o = {4, -5, 6, 7, 8, -9};
  made.output = {5.6f, 6.4f, -7.2f};
  made.m_line = 2;
  made.l_line = 3;
  return made;
}

class SoftmaxFlow : public WindowFlow {
 protected:
  static session::Snapshot with_row_0() {
    session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
    const Kernel* kernel = session::find_kernel(snapshot, "tiled");
    auto chunk = std::make_shared<session::HistoryChunk>(*snapshot.history.chunks.front());
    for (session::HistoryEntry& entry : chunk->entries) {
      auto seen = std::make_shared<Observation>(*entry.observation);
      seen->experiment.kernel_hash = kernel->content_hash;
      entry.observation = seen;
    }
    snapshot.focus.shown = chunk->entries.back().observation;
    snapshot.history.chunks = {chunk};
    snapshot.listings[key_of(snapshot, {})] = listing_of({});
    return snapshot;
  }
  static std::string key_of(const session::Snapshot& snapshot, const SoftmaxRow& row) {
    return session::listing_key(hash_of(snapshot.focus.shown->experiment), row);
  }
  static session::Shared<Listing> listing_of(const SoftmaxRow& row) {
    Listing listing;
    listing.softmax = steps_of(row);
    return std::make_shared<const Listing>(std::move(listing));
  }
  AskedSession& open_still(session::Snapshot snapshot, ShotSize size = {2560, 1440}) {
    auto made = std::make_unique<AskedSession>(std::move(snapshot));
    AskedSession& session = *made;
    session_ = std::move(made);
    open_window(size);
    bench_->ignore_kept_settings();
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      bench_->open_panel("Source");
      ctx->Yield(8);
      ctx->ItemClick("//Source/Softmax");
      ctx->Yield(4);
    });
    return session;
  }
};

TEST_F(SoftmaxFlow, ARowIsSteppedTileByTile) {
  AskedSession& session = open_still(with_row_0(), {5120, 1440});  // the tiles beside the bars
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
}

TEST_F(SoftmaxFlow, AnotherRowIsAskedForAndTheOldOneStaysNamed) {
  AskedSession& session = open_still(with_row_0());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemInputValue("//Source/**/##row", 17);
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("this is batch 0, head 0, row 0"));
  });
  ASSERT_FALSE(session.asked.empty());
  EXPECT_EQ(session.asked.back(), (SoftmaxRow{0, 0, 17}));
}

TEST_F(SoftmaxFlow, AnotherRunsNumbersDoNotStay) {
  session::Snapshot snapshot = with_row_0();
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
  session::Snapshot snapshot = with_row_0();
  snapshot.listings.clear();
  snapshot.refused_listings[key_of(snapshot, {})] = {Stage::input, "its manifest does not say where m is", "Add it."};
  AskedSession& session = open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("its manifest does not say where m is"));
    EXPECT_THAT(drawn, HasSubstr("Add it."));
    EXPECT_THAT(drawn, Not(HasSubstr("tile 1 of")));
  });
  EXPECT_TRUE(session.asked.empty());
}

TEST_F(SoftmaxFlow, TilesThatAreNotKeptAreSaid) {
  session::Snapshot snapshot = with_row_0();
  Listing listing;
  listing.softmax = steps_of({});
  listing.softmax->visible = 100;
  snapshot.listings[key_of(snapshot, {})] = std::make_shared<const Listing>(std::move(listing));
  open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("tile 1 of the first 2")); });
}

TEST_F(SoftmaxFlow, ANarrowPanelHasItToo) {
  open_still(with_row_0(), {1024, 640});
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("m  -inf \u2192 1")); });
}

}  // namespace
}  // namespace attnscope::ui
