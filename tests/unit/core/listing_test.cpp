#include "core/listing.h"

#include <gtest/gtest.h>

#include <limits>

#include <functional>

#include <nlohmann/json.hpp>

namespace attnscope {
namespace {

TEST(Listing, AnIndexOutOfItIsRefused) {
  Listing listing{.experiment_hash = "x", .files = {"k.cu"}};
  listing.lines = {{.text = "NOP", .places = {{0, 3}}}, {.text = "BRA 0x0", .targets = {0}}};
  ASSERT_TRUE(listing_from_json(to_json(listing), "listing"));
  listing.lines[0].places[0].file = 1;
  EXPECT_FALSE(listing_from_json(to_json(listing), "listing"));
  listing.lines[0].places[0].file = 0;
  listing.lines[1].targets[0] = 2;
  EXPECT_FALSE(listing_from_json(to_json(listing), "listing"));
}

// Another version's worker leaves out what it does not know.
TEST(Listing, WhatALineDoesNotSayIsNone) {
  Listing listing{.experiment_hash = "x"};
  listing.lines = {{.text = "NOP"}};
  Json json = to_json(listing);
  json["lines"][0] = {{"text", "NOP"}, {"counts", Json::object()}};
  const auto back = listing_from_json(json, "listing");
  ASSERT_TRUE(back) << back.error().message;
  const CodeLine& line = back->lines.at(0);
  EXPECT_EQ(line.counts, (CodeCounts{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(line.control, (CodeControl{0, false, 7, 7, 0, 0}));
  EXPECT_TRUE(line.falls_through);
  EXPECT_FALSE(line.guarded || line.shared);
  EXPECT_TRUE(line.places.empty() && line.reads.empty() && line.writes.empty() && line.targets.empty());
}

TEST(Listing, AccessesComeBackAndNameAddressesThatAreThere) {
  Listing listing{.experiment_hash = "x"};
  listing.lines = {{.text = "LDSM"}};
  listing.lines[0].shared = {.shapes = {{{0, 128}, 3, 16, SharedUse::matrices}}, .steps = {{7, 15, 0, 1 << 17}}};
  listing.places = {{"K_tile", 1024, 4096}};
  const auto back = listing_from_json(to_json(listing), "listing");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, listing);
  listing.lines[0].shared->steps[0].shape = 1;
  EXPECT_FALSE(listing_from_json(to_json(listing), "listing"));
  listing.lines[0].shared->steps.clear();
  EXPECT_FALSE(listing_from_json(to_json(listing), "listing"));
}

TEST(Listing, ASoftmaxComesBackWithItsInfinitiesAndAShortListIsRefused) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Listing listing{.experiment_hash = "x"};
  listing.softmax = SoftmaxSteps{.row = {1, 2, 3},
                                 .cta = 4,
                                 .keys = 2,
                                 .visible = 3,
                                 .head_dim = 1,
                                 .m = {-kInfinity, 1},
                                 .l = {0, 2},
                                 .exact_m = {-kInfinity, 1},
                                 .exact_l = {0, 2},
                                 .scores = {-kInfinity, -kInfinity, 1, 0},
                                 .weights = {},
                                 .o = {0, 5},
                                 .output = {2.5f},
                                 .m_line = 7};
  const auto back = listing_from_json(to_json(listing), "listing");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, listing);
  const auto refused = [&](auto member) {
    Listing other = listing;
    (*other.softmax.*member).pop_back();
    return !listing_from_json(to_json(other), "listing");
  };
  EXPECT_TRUE(refused(&SoftmaxSteps::l));
  EXPECT_TRUE(refused(&SoftmaxSteps::exact_m));
  EXPECT_TRUE(refused(&SoftmaxSteps::exact_l));
  EXPECT_TRUE(refused(&SoftmaxSteps::scores));
  EXPECT_TRUE(refused(&SoftmaxSteps::o));
}

TEST(Listing, ATimelineIsReadBackAndAnUnevenOneIsRefused) {
  Listing listing{.experiment_hash = "x"};
  SmTimeline& made = listing.timeline.emplace();
  made.sms = 2, made.sm = 1, made.places = 3, made.total_ctas = 4;
  made.clock_mhz = 1800.5, made.clocks = 77.25;
  made.complete = false, made.by_instructions = true;
  made.ctas = {{0, 0, 0, 0, 5.5}, {1, 1, 0, 0, 77}};
  made.warps = {{0, 0, 0}, {0, 1, 1}};
  made.from = 10, made.column = 2, made.columns = 3;
  made.shares.resize(2 * 3 * kWarpStates, 0.125f);
  made.launch = "launch 2, row_sum";
  const auto back = listing_from_json(to_json(listing), "listing");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, listing);
  listing.timeline->shares.pop_back();
  EXPECT_FALSE(listing_from_json(to_json(listing), "listing"));
}

TEST(SmTimeline, SharesAreOrderedByWarpThenColumnThenState) {
  SmTimeline timeline;
  timeline.columns = 3;
  for (int i = 0; i < 2 * 3 * static_cast<int>(kWarpStates); ++i) timeline.shares.push_back(static_cast<float>(i));
  float next = 0;
  for (size_t warp = 0; warp < 2; ++warp)
    for (size_t column = 0; column < 3; ++column)
      for (size_t state = 0; state < kWarpStates; ++state)
        EXPECT_EQ(timeline.share(warp, column, static_cast<WarpState>(state)), next++) << warp << " " << column;
}

TEST(Listing, AMeasuredTimelineHasSpansOfWarpsThatAreThere) {
  Listing listing{.experiment_hash = "x"};
  SmTimeline& made = listing.timeline.emplace();
  made.sms = made.places = made.total_ctas = 1;
  made.ctas = {{0, 0, 0, 0, 5.5}};
  made.warps = {{0, 0, 0}};
  made.columns = 1;
  made.twin = {44, 40, 2, 3};
  made.spans = {{0, 0, 0.5, 5.5}};
  const auto back = listing_from_json(to_json(listing), "listing");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, listing);
  listing.timeline->spans[0].row = 1;
  EXPECT_FALSE(listing_from_json(to_json(listing), "listing"));
}

TEST(Listing, AFragmentIsReadBackAndAnUnevenOneIsRefused) {
  Listing listing{.experiment_hash = "x"};
  listing.lines = {{.text = "NOP"}, {.text = "LDSM.16.M88.2 R4, [R2]"}};
  listing.lines[1].fragments = {{MatrixName::d, 16, 8, 16, 2, true, 4}};
  const auto read = listing_from_json(to_json(listing), "listing");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, listing);
  for (const auto& change : std::vector<std::function<void(MatrixFragment&)>>{
           [](MatrixFragment& one) { one.rows = 12; }, [](MatrixFragment& one) { one.columns = 0; },
           [](MatrixFragment& one) { one.bits = 12; }, [](MatrixFragment& one) { one.run = 3; },
           [](MatrixFragment& one) { one.first = -2; }, [](MatrixFragment& one) { one.rows = 40; }}) {
    Listing other = listing;
    change(other.lines[1].fragments[0]);
    EXPECT_FALSE(listing_from_json(to_json(other), "listing"));
  }
}

}  // namespace
}  // namespace attnscope
