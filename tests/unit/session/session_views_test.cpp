// What becomes of maps, and of the worker that had a run, with two workers or a run that is cancelled.
#include "session/tile_cache.h"
#include "session_fixture.h"

namespace attnscope::session {
namespace {

TEST_F(SessionTest, ARunBehindALinkTakesTheMapOnScreenAlong) {
  options_.first_experiment = false;
  options_.workers.push_back(fake("far", {}));
  start();
  const auto run = [&](int64_t warps) {
    Draft draft = tiled(warps);
    draft.device = "far/emulated:l4";
    session_->focus(draft, Gesture{++gesture_, true, ""});
    return wait_for(
        [&](const Snapshot& n) {
          return !n.focus.running && n.focus.wanted.device == "far/emulated:l4" &&
                 n.focus.wanted.config.knobs.contains("NUM_WARPS") &&
                 n.focus.wanted.config.knobs.at("NUM_WARPS") == warps;
        },
        "the far run");
  };
  ViewRequest view;
  view.head = 3;
  view.experiment_hash = run(8)->focus.wanted_hash;
  session_->request_view(view);
  wait_for([&](const Snapshot& n) { return n.tiles.contains(tile_key(view)); }, "its map");
  const Seen next = run(4);
  view.experiment_hash = next->focus.wanted_hash;
  ASSERT_TRUE(next->tiles.contains(tile_key(view))) << "under the session's own name";
  EXPECT_TRUE(complete(*next->tiles.at(tile_key(view))));
  session_->request_view(view);
  run(2);
  const auto asked = requests();
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "view 3"), 1) << "only the first was asked for by itself";
}

TEST_F(SessionTest, ARunOnAnotherWorkerEndsWhenSomethingElseIsWanted) {
  options_.first_experiment = false;
  options_.workers.push_back(fake("far", {"--stall", "NUM_WARPS=8"}));
  start();
  const auto far = [](int64_t warps) {
    Draft draft = tiled(warps);
    draft.device = "far/emulated:l4";
    return draft;
  };
  session_->focus(far(8), Gesture{++gesture_, true, ""});
  wait_for_file([&] { return runs() == 1; }, "the run that never ends");
  focus(4);
  wait_for([](const Snapshot& n) { return !n.focus.running && n.focus.wanted.device == "emulated:l4"; },
           "the other run");
  auto next = session_->queue(far(2));
  ASSERT_EQ(next.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "the worker is still busy";
  EXPECT_FALSE(next.get().failure);
}

TEST_F(SessionTest, AMapThatACancelledRunDidNotBringIsAskedFor) {
  worker({"--gate", gate()});
  open_gates();
  start();
  ViewRequest view;
  view.head = 3;
  view.experiment_hash = wait_for_run(4)->focus.wanted_hash;
  session_->request_view(view);
  wait_for([&](const Snapshot& n) { return n.tiles.contains(tile_key(view)); }, "the map");
  close_gates();
  focus(8);
  view.experiment_hash =
      wait_for([](const Snapshot& n) { return n.focus.running && n.focus.wanted.config.knobs.at("NUM_WARPS") == 8; },
               "the run")
          ->focus.wanted_hash;
  wait_for_file([&] { return runs() == 2; }, "the worker's start");
  session_->cancel();
  wait_for([](const Snapshot& n) { return !n.focus.running; }, "its end");
  wait_for(
      [&](const Snapshot& n) {
        session_->request_view(view);
        return n.tiles.contains(tile_key(view));
      },
      "the map by itself");
}

}  // namespace
}  // namespace attnscope::session
