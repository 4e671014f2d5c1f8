#include "session/views.h"

#include <gtest/gtest.h>

#include "session/snapshot.h"

namespace attnscope::session {
namespace {

ViewRequest of(const std::string& hash, int64_t head = 0) {
  ViewRequest request;
  request.experiment_hash = hash;
  request.head = head;
  return request;
}

Tile whole(const ViewRequest& request) {
  Tile tile;
  tile.request = request;
  tile.width = tile.height = 1;
  tile.values = {0};
  tile.ready_rows = {1};
  return tile;
}

TEST(Views, AMapIsAskedOfTheWorkerThatRanItOnce) {
  Views views;
  views.ran("run", 3, "wire");
  EXPECT_EQ(views.ask(of("run"), "").value(), std::optional<size_t>(3));
  EXPECT_EQ(views.ask(of("run"), "").value(), std::nullopt) << "it is on its way";
  EXPECT_EQ(views.on_wire(of("run")).experiment_hash, "wire");
  views.over(of("run"));
  EXPECT_EQ(views.ask(of("run"), "").value(), std::optional<size_t>(3)) << "it came to nothing";
  views.add(whole(of("run")));
  views.over(of("run"));
  EXPECT_EQ(views.ask(of("run"), "").value(), std::nullopt) << "it is here";
  EXPECT_TRUE(views.tiles().contains(tile_key(of("run"))));
}

TEST(Views, ARunThatNoWorkerHasIsRefusedUnlessItIsRunning) {
  Views views;
  EXPECT_EQ(views.ask(of("run"), "run").value(), std::nullopt);
  EXPECT_FALSE(views.ask(of("run"), "other"));
  views.ran("run", 0, "wire");
  views.forget(1);
  EXPECT_TRUE(views.ask(of("run"), ""));
  views.forget(0);
  EXPECT_FALSE(views.ask(of("run", 1), ""));
}

TEST(Views, WhatWasRefusedIsAskedAgainAfterAnotherRun) {
  Views views;
  views.ran("run", 0, "wire");
  views.refuse(of("run"), Failure{Stage::device, "no", ""});
  EXPECT_EQ(views.ask(of("run"), "").value(), std::nullopt);
  EXPECT_EQ(views.refused().at(tile_key(of("run"))).message, "no");
  views.ran("run", 0, "wire");
  EXPECT_TRUE(views.refused().empty());
  EXPECT_EQ(views.ask(of("run"), "").value(), std::optional<size_t>(0));
  for (size_t head = 0; head <= Views::kMostRefused; ++head)
    views.refuse(of("run", static_cast<int64_t>(head)), Failure{Stage::device, "no", ""});
  EXPECT_EQ(views.refused().size(), 1u) << "bounded";
}

TEST(Views, ARunTakesTheLastMapAlongInsideItsOwnSizes) {
  Views views;
  Experiment experiment;
  experiment.problem.heads = 2;
  experiment.problem.seq_q = 100;
  EXPECT_FALSE(views.first_of(experiment, "run")) << "none was asked for";
  ViewRequest last = of("before", 5);
  last.row_begin = 90;
  last.row_end = 120;
  views.ran("before", 0, "wire");
  ASSERT_TRUE(views.ask(last, ""));
  const auto first = views.first_of(experiment, "run");
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, of("run")) << "the first head, all rows";
  views.ran("run", 0, "wire of run");
  EXPECT_EQ(views.ask(*first, "").value(), std::nullopt) << "it comes with the run";
  ViewRequest matrix = of("before");
  matrix.map = MapKind::attention;
  ASSERT_TRUE(views.ask(matrix, ""));
  EXPECT_EQ(views.first_of(experiment, "run")->map, MapKind::error) << "a matrix does not grow with a run";
}

}  // namespace
}  // namespace attnscope::session
