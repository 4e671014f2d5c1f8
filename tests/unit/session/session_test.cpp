#include "session_fixture.h"

#include "core/config.h"
#include "session/listings.h"
#include "session/tile_cache.h"

namespace attnscope::session {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(SessionTest, FirstStartRunsTheDefaultAndSaysWhyWhere) {
  start();
  Seen s = wait_for_run(4);
  EXPECT_EQ(s->focus.wanted.kernel, "tiled");
  EXPECT_EQ(s->focus.wanted.config.knobs.at("BLOCK_M"), 32);
  EXPECT_EQ(s->focus.wanted.device, "emulated:l4");
  EXPECT_THAT(s->device_reason, HasSubstr("No NVIDIA driver"));
  EXPECT_TRUE(s->first_start);
  EXPECT_THAT(s->invite, ElementsAre(testing::Pair("NUM_WARPS", 8))) << "of the default preset";
  EXPECT_EQ(s->preset_path, "") << "no preset was opened";
  for (PartState state : s->focus.parts) EXPECT_EQ(state, PartState::fresh);
  EXPECT_EQ(s->focus.shown->variant->static_shared_bytes, 36896);
  EXPECT_EQ(s->focus.shown->versions.nvrtc, "12.8");
  ASSERT_EQ(s->history.size, 1u);
  EXPECT_THAT(s->history.at(0).config_text, HasSubstr("BLOCK_M=32"));
  EXPECT_EQ(s->kernels->size(), 2u);
  EXPECT_TRUE(s->kernel_failures->empty());
  EXPECT_EQ(s->workers.at(0).state, WorkerState::ready);
  EXPECT_FALSE(s->can_undo);
}

TEST_F(SessionTest, AFirstStartWithoutADefaultPresetRunsTheFirstKernel) {
  std::filesystem::remove(dir_ / "presets/first.json");
  start();
  Seen s = wait_for([](const Snapshot& n) { return n.history.size == 1; }, "the first run");
  EXPECT_EQ(s->focus.wanted.kernel, "minimal");
  EXPECT_TRUE(s->invite.empty());
  EXPECT_TRUE(logged(*s, "no default preset"));
}

TEST_F(SessionTest, ASnapshotIsThereBeforeAnythingIs) {
  start();
  Seen s = session_->snapshot();
  ASSERT_TRUE(s && s->kernels && s->kernel_failures && s->devices && s->presets && s->log && s->settings);
}

TEST_F(SessionTest, PartsArriveOneByOneOverTheKeptFigures) {
  worker({"--gate", gate()});
  open_gates();
  start();
  wait_for_run(4);
  close_gates();
  focus(8, "NUM_WARPS 4 → 8");
  Seen s = wait_for([](const Snapshot& n) { return n.focus.stage == "compiling"; }, "the run's start");
  EXPECT_TRUE(s->focus.running);
  EXPECT_EQ(s->focus.change, "NUM_WARPS 4 → 8");
  EXPECT_EQ(part(*s, Part::timing), PartState::kept);
  EXPECT_EQ(s->focus.part_from[int(Part::timing)], "NUM_WARPS=4");
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w4").timing);

  open_gate("variant");
  s = wait_for([&](const Snapshot& n) { return part(n, Part::variant) == PartState::fresh; }, "the variant");
  EXPECT_EQ(s->focus.shown->variant->static_shared_bytes, 36928);
  EXPECT_EQ(part(*s, Part::counters), PartState::kept);
  open_gate("occupancy");
  open_gate("counters");
  wait_for([&](const Snapshot& n) { return part(n, Part::counters) == PartState::fresh; }, "the counters");
  open_gates();
  s = wait_for_run(8);
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w8").timing);
  EXPECT_EQ(s->history.size, 2u);
  EXPECT_EQ(s->history.at(1).change, "NUM_WARPS 4 → 8");
}

TEST_F(SessionTest, TheLatestWins) {
  worker({"--gate", gate()});
  open_gate("variant");
  start();
  wait_for([](const Snapshot& s) { return s.focus.shown && s.focus.shown->variant; }, "the first run to be under way");
  for (int64_t warps : {8, 1, 6, 2}) focus(warps);
  wait_for([](const Snapshot& s) { return s.focus.wanted.config.knobs.at("NUM_WARPS") == 2; }, "the last wish");
  open_gates();
  Seen s = wait_for_run(2);
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w2").timing);
  EXPECT_EQ(s->history.size, 1u) << "superseded runs leave no entry";
  const auto asked = requests();
  EXPECT_THAT(asked, Contains("cancel"));
  EXPECT_THAT(asked.back(), HasSubstr("NUM_WARPS=2"));
}

TEST_F(SessionTest, ADragIsOneEntryAndOneUndo) {
  start();
  wait_for_run(4);
  for (int64_t warps : {6, 8}) {
    session_->focus(tiled(warps), Gesture{7, false, "NUM_WARPS 4 → " + std::to_string(warps)});
    wait_for_run(warps);
  }
  session_->focus(tiled(8), Gesture{7, true, "NUM_WARPS 4 → 8"});  // released where it is
  session_->focus(tiled(2), Gesture{8, true, "NUM_WARPS 8 → 2"});
  Seen s = wait_for_run(2);
  ASSERT_EQ(s->history.size, 3u);
  EXPECT_EQ(s->history.at(1).change, "NUM_WARPS 4 → 8");
  EXPECT_EQ(s->history.at(1).observation->experiment.config.knobs.at("NUM_WARPS"), 8);
  EXPECT_EQ(runs(), 4u) << "letting go runs nothing again";
  session_->undo();
  wait_for_run(8);
  session_->undo();
  s = wait_for_run(4);
  EXPECT_FALSE(s->can_undo);
}

TEST_F(SessionTest, UndoAndRedoShowWhatIsKeptAndRunNothing) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  const size_t before = runs();
  session_->undo();
  Seen s = wait_for_run(4);
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w4").timing);
  EXPECT_EQ(part(*s, Part::verdict), PartState::fresh);
  EXPECT_TRUE(s->can_redo);
  session_->redo();
  s = wait_for_run(8);
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w8").timing);
  EXPECT_EQ(s->history.size, 2u);
  EXPECT_EQ(runs(), before);
}

TEST_F(SessionTest, UndoToAStateThatNeverEndedRunsIt) {
  worker({"--stall", "NUM_WARPS=8"});
  start();
  wait_for_run(4);
  focus(8);
  wait_for([](const Snapshot& s) { return s.focus.stage == "compiling"; }, "the run");
  focus(2);
  wait_for_run(2);
  session_->undo();
  wait_for([](const Snapshot& s) { return s.focus.running && s.focus.stage == "compiling"; }, "the run again");
  session_->undo();
  wait_for_run(4);
}

TEST_F(SessionTest, RunAgainAddsAnEntry) {
  start();
  wait_for_run(4);
  session_->rerun();
  Seen s = wait_for([](const Snapshot& n) { return n.history.size == 2; }, "the second entry");
  EXPECT_EQ(s->history.at(0).observation->hash, s->history.at(1).observation->hash);
  EXPECT_FALSE(s->can_undo) << "the knobs did not move";
}

TEST_F(SessionTest, CancelEndsTheRunAndTheNextOneRuns) {
  worker({"--stall", "NUM_WARPS=8"});
  start();
  wait_for_run(4);
  focus(8);
  wait_for([](const Snapshot& s) { return s.focus.stage == "compiling"; }, "the run");
  session_->cancel();
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the end");
  EXPECT_EQ(s->focus.failure->stage, Stage::cancelled);
  EXPECT_EQ(s->history.size, 1u);
  focus(2);
  EXPECT_FALSE(wait_for_run(2)->focus.failure);
}

TEST_F(SessionTest, ARefusedConfigSendsNothing) {
  start();
  wait_for_run(4);
  const size_t before = runs();
  session_->focus(tiled(5), Gesture{++gesture_, true, ""});
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the refusal");
  EXPECT_EQ(s->focus.failure->stage, Stage::input);
  EXPECT_THAT(s->focus.failure->message, HasSubstr("NUM_WARPS"));
  EXPECT_FALSE(s->focus.running);
  EXPECT_EQ(part(*s, Part::timing), PartState::kept);
  session_->focus(tiled(4, {{"NUM_WARP", 4}}), Gesture{++gesture_, true, ""});
  wait_for(
      [](const Snapshot& n) {
        return n.focus.failure && n.focus.failure->message.find("NUM_WARP") != std::string::npos;
      },
      "the refusal of the unknown knob");
  EXPECT_EQ(runs(), before);
  session_->undo();
  session_->undo();
  wait_for_run(4);
}

TEST_F(SessionTest, AFailedStageIsShownWhereItFailed) {
  start();
  wait_for_run(4);
  session_->focus(tiled(4, {{"BLOCK_M", 64}}), Gesture{++gesture_, true, ""});
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the refusal");
  EXPECT_EQ(s->focus.failure->stage, Stage::limits);
  EXPECT_EQ(part(*s, Part::timing), PartState::failed);
  EXPECT_EQ(s->history.size, 2u);
}

TEST_F(SessionTest, EqualMachineCodeIsNamed) {
  start();
  focus(8);
  wait_for_run(8);
  session_->focus(tiled(8, {{"VEC_WIDTH", 8}}), Gesture{++gesture_, true, ""});
  Seen s = wait_for([](const Snapshot& n) { return !n.focus.same_code_as.empty(); }, "the name");
  EXPECT_EQ(s->focus.same_code_as, "VEC_WIDTH=4");
}

TEST_F(SessionTest, SelectingHistoryShowsItUntilAKnobMoves) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  session_->select_history(1);
  Seen s = wait_for([](const Snapshot& n) { return n.selected.has_value(); }, "the selection");
  EXPECT_EQ(s->selected->observation->experiment.config.knobs.at("NUM_WARPS"), 4);
  session_->select_history(0);
  wait_for([](const Snapshot& n) { return !n.selected; }, "live again");
  session_->select_history(1);
  wait_for([](const Snapshot& n) { return n.selected.has_value(); }, "the selection");
  focus(2);
  EXPECT_FALSE(wait_for_run(2)->selected);
}

TEST_F(SessionTest, MapsAreAskedForOnceAndComeWithTheNextRun) {
  start();
  Seen s = wait_for_run(4);
  ViewRequest view;
  view.experiment_hash = s->focus.wanted_hash;
  view.head = 3;
  view.width = 16;
  view.height = 4;
  for (int frame = 0; frame < 5; ++frame) session_->request_view(view);
  s = wait_for([&](const Snapshot& n) { return n.tiles.contains(tile_key(view)); }, "the map");
  EXPECT_TRUE(complete(*s->tiles.at(tile_key(view))));
  session_->request_view(view);
  focus(8);
  s = wait_for_run(8);
  view.experiment_hash = s->focus.wanted_hash;
  EXPECT_TRUE(s->tiles.contains(tile_key(view))) << "the run took the map on screen along";
  const auto asked = requests();
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "view 3"), 1);
}

TEST_F(SessionTest, CodeIsAskedForOnceAndAgainAfterAnotherRun) {
  start();
  Seen s = wait_for_run(4);
  const Experiment experiment = s->focus.wanted;
  const std::string hash = s->focus.wanted_hash;
  for (int frame = 0; frame < 5; ++frame) session_->request_code(experiment);
  s = wait_for([&](const Snapshot& n) { return n.listings.contains(hash); }, "the listing");
  EXPECT_EQ(s->listings.at(hash)->lines.size(), 2u);
  session_->request_code(experiment);
  session_->rerun();
  s = wait_for([&](const Snapshot& n) { return !n.listings.contains(hash); }, "the run, which outdates it");
  wait_for_run(4);
  session_->request_code(experiment);
  wait_for([&](const Snapshot& n) { return n.listings.contains(hash); }, "the listing of the new run");
  const auto asked = requests();
  EXPECT_EQ(std::ranges::count_if(asked, [](const std::string& line) { return line.starts_with("code tiled"); }), 2);
}

TEST_F(SessionTest, ASoftmaxIsAskedForByItsRow) {
  start();
  Seen s = wait_for_run(4);
  const Experiment experiment = s->focus.wanted;
  const SoftmaxRow row{0, 1, 17}, other{0, 1, 18};
  const std::string key = listing_key(hash_of(experiment), row);
  EXPECT_NE(key, listing_key(hash_of(experiment), other));
  session_->request_softmax(experiment, row);
  session_->request_softmax(experiment, row);
  s = wait_for([&](const Snapshot& n) { return n.listings.contains(key); }, "the answer");
  EXPECT_FALSE(s->listings.contains(hash_of(experiment))) << "it is no listing of the code";
  const auto asked = requests();
  EXPECT_EQ(std::ranges::count_if(asked, [](const std::string& line) { return line.starts_with("code tiled"); }), 1);
}

TEST_F(SessionTest, ATimelineIsAskedForOnceByItsSmAndClocks) {
  start();
  const Experiment experiment = wait_for_run(4)->focus.wanted;
  TimelineAsk all, second;
  second.sm = 1;
  const std::string key = listing_key(hash_of(experiment), all);
  EXPECT_NE(key, listing_key(hash_of(experiment), second));
  second = all;
  second.to = 64;
  EXPECT_NE(key, listing_key(hash_of(experiment), second));
  second = all;
  second.measured = true;
  EXPECT_NE(key, listing_key(hash_of(experiment), second));
  session_->request_timeline(experiment, all);
  session_->request_timeline(experiment, all);
  wait_for([&](const Snapshot& n) { return n.listings.contains(key); }, "the answer");
  const auto asked = requests();
  EXPECT_EQ(std::ranges::count_if(asked, [](const std::string& line) { return line.starts_with("code tiled"); }), 1);
}

TEST_F(SessionTest, CodeOfAnEditedKernelOrAnUnknownDeviceIsRefused) {
  start();
  Seen s = wait_for_run(4);
  Experiment edited = s->focus.wanted, elsewhere = s->focus.wanted;
  edited.kernel_hash = "another";
  elsewhere.device = "emulated:none";
  session_->request_code(edited);
  session_->request_code(elsewhere);
  s = wait_for([&](const Snapshot& n) { return n.refused_listings.size() == 2; }, "the refusals");
  EXPECT_EQ(s->refused_listings.at(hash_of(edited)).stage, Stage::input);
  EXPECT_EQ(s->refused_listings.at(hash_of(elsewhere)).stage, Stage::device);
}

TEST_F(SessionTest, AMapThatIsRefusedSaysWhyUntilItsRunIsRunAgain) {
  worker({"--views-after", dir_ / "kept"});
  start();
  Seen s = wait_for_run(4);
  ViewRequest view;
  view.experiment_hash = s->focus.wanted_hash;
  view.map = MapKind::attention;
  session_->request_view(view);
  s = wait_for([&](const Snapshot& n) { return n.refused_views.contains(tile_key(view)); }, "the refusal");
  EXPECT_EQ(s->refused_views.at(tile_key(view)).stage, Stage::device);
  EXPECT_FALSE(s->tiles.contains(tile_key(view)));
  ViewRequest elsewhere = view;
  elsewhere.experiment_hash = "never run here";
  session_->request_view(elsewhere);
  s = wait_for([&](const Snapshot& n) { return n.refused_views.contains(tile_key(elsewhere)); }, "another refusal");
  EXPECT_FALSE(s->refused_views.at(tile_key(elsewhere)).hint.empty());
  dir_.write("kept", "");
  session_->rerun();
  wait_for([&](const Snapshot& n) { return !n.refused_views.contains(tile_key(view)); }, "the run again");
  session_->request_view(view);
  wait_for([&](const Snapshot& n) { return n.tiles.contains(tile_key(view)); }, "the map");
}

TEST_F(SessionTest, WhatAKernelPrintsIsInTheLog) {
  worker({"--prints", "row 3 of 512"});
  start();
  const Seen s = wait_for_run(4);
  ASSERT_TRUE(s->focus.shown->printed);
  EXPECT_EQ(s->focus.shown->printed->more, 3);
  std::vector<std::string> said;
  for (const LogLine& line : *s->log)
    if (line.text.find("prints") != std::string::npos) said.push_back(line.text);
  EXPECT_EQ(said, (std::vector<std::string>{"tiled prints: row 3 of 512", "tiled prints 3 times more"}));
}

TEST_F(SessionTest, KernelsGoToTheWorkerOnceByContent) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  const auto asked = requests();
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "kernel"), 1);
}

TEST_F(SessionTest, QueueAnswersEachRequestWithItsOwn) {
  options_.first_experiment = false;
  start();
  std::vector<std::future<Observation>> answers;
  for (int64_t warps : {1, 2, 4, 8}) answers.push_back(session_->queue(tiled(warps)));
  const char* names[] = {"m32_w1", "m32_w2", "m32_w4", "m32_w8"};
  for (size_t i = 0; i < answers.size(); ++i) {
    const Observation o = answers[i].get();
    EXPECT_FALSE(o.failure);
    EXPECT_EQ(o.timing, recorded(names[i]).timing);
    EXPECT_EQ(o.device, "emulated:l4");
    EXPECT_EQ(o.versions.app, "0.1.0") << "the worker's, when the parts do not say";
    EXPECT_EQ(o.hash, hash_of(o.experiment));
  }
  EXPECT_EQ(session_->snapshot()->history.size, 0u);
}

TEST_F(SessionTest, QueueRefusesInTheObservation) {
  options_.first_experiment = false;
  start();
  EXPECT_EQ(session_->queue(tiled(5)).get().failure->stage, Stage::input);
  Draft unknown = tiled(4);
  unknown.kernel = "fast";
  EXPECT_THAT(session_->queue(unknown).get().failure->message, HasSubstr("fast"));
  Draft elsewhere = tiled(4);
  elsewhere.device = "cuda:7";
  const Failure refused = *session_->queue(elsewhere).get().failure;
  EXPECT_EQ(refused.stage, Stage::device);
  EXPECT_THAT(refused.hint, HasSubstr("emulated:l4"));
  Draft impossible = tiled(4);
  impossible.problem.head_dim = 96;
  EXPECT_EQ(session_->queue(impossible).get().failure->stage, Stage::input);
}

TEST_F(SessionTest, FocusWaitsForTheQueuesCurrentRequestOnly) {
  options_.first_experiment = false;
  worker({"--gate", gate()});
  start();
  auto first = session_->queue(tiled(1));
  auto second = session_->queue(tiled(2));
  wait_for(
      [](const Snapshot& s) {
        return s.queue_waiting == 2 && s.workers[0].detail.find("compiling") != std::string::npos;
      },
      "the first to run");
  focus(8);
  wait_for([](const Snapshot& s) { return s.focus.running; }, "the wish");
  open_gates();
  first.get();
  second.get();
  wait_for_run(8);
  std::vector<std::string> order;
  for (const std::string& line : requests())
    if (line.starts_with("run ")) order.push_back(line.substr(line.find("NUM_WARPS="), 11));
  EXPECT_THAT(order, ElementsAre("NUM_WARPS=1", "NUM_WARPS=8", "NUM_WARPS=2"));
}

TEST_F(SessionTest, StopAnswersWhatIsUnanswered) {
  options_.first_experiment = false;
  worker({"--gate", gate()});
  start();
  auto running = session_->queue(tiled(1));
  auto waiting = session_->queue(tiled(2));
  wait_for([](const Snapshot& s) { return s.queue_waiting == 2; }, "the queue");
  session_->stop();
  session_->stop();
  EXPECT_EQ(running.get().failure->stage, Stage::cancelled);
  EXPECT_EQ(waiting.get().failure->stage, Stage::cancelled);
  EXPECT_EQ(session_->queue(tiled(4)).get().failure->stage, Stage::cancelled);
  session_->undo();  // harmless
}

TEST_F(SessionTest, SeveralWorkersEachWithItsDevices) {
  options_.first_experiment = false;
  options_.workers.push_back(fake("far", {}));
  start();
  Draft draft = tiled(8);
  draft.device = "far/emulated:l4";
  const Observation o = session_->queue(draft).get();
  EXPECT_FALSE(o.failure) << o.failure->message;
  EXPECT_EQ(o.device, "far/emulated:l4");
  EXPECT_EQ(o.experiment.device, "far/emulated:l4");
  wait_for([](const Snapshot& n) { return find_device(n, "far/emulated:l4") != nullptr; }, "the far devices");

  focus(8);
  wait_for_run(8);
  session_->focus(draft, Gesture{++gesture_, true, ""});
  Seen s = wait_for([](const Snapshot& n) { return !n.focus.running && n.focus.wanted.device == "far/emulated:l4"; },
                    "the far run");
  ViewRequest view;
  view.experiment_hash = s->focus.wanted_hash;
  session_->request_view(view);
  wait_for([&](const Snapshot& n) { return n.tiles.contains(tile_key(view)); },
           "its map, under the session's own name");
}

TEST_F(SessionTest, AHeldWorkerTimesNothingOnItsGpu) {
  worker({"--profile"});  // it has a GPU
  options_.first_experiment = false;
  start();
  wait_for([](const Snapshot& s) { return find_device(s, "cuda:0") != nullptr; }, "the GPU");
  session_->hold_timing("local", 7);
  wait_for([](const Snapshot& s) { return s.workers.front().hold == 7; }, "the hold");
  Draft timed = tiled(8);
  timed.device = "cuda:0";
  auto waits = session_->queue(timed);
  EXPECT_EQ(session_->queue(tiled(4)).get().device, "emulated:l4") << "what is modelled passes it";
  wait_for([](const Snapshot& s) { return s.workers.front().detail.find("counters are read") != std::string::npos; },
           "why the other one waits");
  session_->hold_timing("local", 0);
  EXPECT_EQ(waits.get().device, "cuda:0");
  wait_for([](const Snapshot& s) { return s.workers.front().hold == 0; }, "the end of the hold");
}

TEST_F(SessionTest, ASessionWithoutAWorkerIsRefused) {
  options_.workers.clear();
  EXPECT_FALSE(Session::start(options_, {}));
  options_.workers = {{"local", {}}};
  EXPECT_FALSE(Session::start(options_, {}));
}

}  // namespace
}  // namespace attnscope::session
