// A search over a kernel's configs: how the model ranks them, what the device tries, what is watched.
#include "sweep/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "store/results.h"
#include "support/temp_dir.h"
#include "sweep/job.h"
#include "sweep/twin.h"
#include "unit/sweep/scan_session.h"

namespace attnscope::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// K=3 is the fastest of 1 to 4 on the GPU; its model says 2.
class SearchTest : public testing::Test {
 protected:
  SearchTest() {
    plan_.kernel = kernel_of_k();
    plan_.held.kernel = "k";
    plan_.held.kernel_hash = "hash";
    plan_.held.device = "cuda:0";
    plan_.held.config = config_of(1);
    plan_.space.held = config_of(1);
    plan_.space.axes = {{"K", {1, 2, 3, 4}}};
    candidates_.configs = {config_of(1), config_of(2), config_of(3), config_of(4)};
    candidates_.grid = search::Grid({{0}, {1}, {2}, {3}});
    place_.session = &session_;
    place_.device.device.id = "cuda:0";
    place_.device.device.name = "H200";
    place_.device.device.arch = 90;
    place_.device.device.emulated = false;
    place_.device.versions = {"1.0", "13.0", "580", ""};
    DeviceSpec& twin = place_.emulated.emplace_back();
    twin.id = "emulated:h200";
    twin.name = "H200";
    twin.arch = 90;
    place_.new_id = [this] { return ++last_id_; };
    place_.find = [this](const std::string& id) -> Result<Found> {
      if (id != "emulated:h200") return fail(Stage::device, "there is no " + id, "");
      return Found{place_.emulated.front(), place_.device.versions};
    };
    session_.answer = [this](const Experiment& e, bool watched) {
      const int64_t k = e.config.knobs.at("K");
      Observation run = measured(10 + 10 * std::abs(static_cast<double>(k - (is_model(e.device) ? 2 : 3))));
      run.device = e.device;
      if (is_model(e.device)) {
        run.timing->kind = FigureKind::modelled;
        run.versions.gpu = "";
      }
      if (is_model(e.device) && k == wrong_in_model_) run.verdict->state = VerdictState::wrong;
      if (!watched) return run;
      run.watch.emplace();
      if (k == racy_) {
        Finding race;
        race.rule = RuleId::race_shared;
        race.severity = Severity::error;
        run.watch->findings = {race};
      }
      return run;
    };
  }
  static bool is_model(const std::string& device) { return device.starts_with("emulated:"); }
  Search search() { return Search(plan_, candidates_, place_, settings_); }
  // "cuda:0 1 2 3 4", one text per request; "!" says that it ran under the watch.
  std::vector<std::string> asks() const {
    std::vector<std::string> all;
    for (const ScanSession::Asked& one : session_.asked) {
      std::string& text = all.emplace_back(one.request.draft.device);
      if (one.request.watch == session::Watch::always) text += "!";
      for (const Config& config : one.ran) text += " " + std::to_string(config.knobs.at("K"));
    }
    return all;
  }
  static std::vector<std::string> ranked(const Search& search) {
    std::vector<std::string> names;
    for (const charts::ScanRow& row : search.board().rows) names.push_back(row.text);
    return names;
  }

  ScanSession session_;
  Plan plan_;
  search::Candidates candidates_;
  Place place_;
  Search::Settings settings_;
  uint64_t last_id_ = 0;
  int64_t racy_ = 0, wrong_in_model_ = 0;
};

TEST_F(SearchTest, EveryConfigIsTriedAndTheFastestIsWatched) {
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4", "cuda:0! 3"));
  EXPECT_EQ(ranked(search).front(), "K=3");
  EXPECT_EQ(search.counts().tried, 4u);
  EXPECT_EQ(search.counts().known, 0u);
  EXPECT_FALSE(search.predicted(0)) << "no model ranked";
  EXPECT_THAT(search.notes(), IsEmpty());
  EXPECT_TRUE(search.plan().model.empty());
}

TEST_F(SearchTest, WorkersNeedTheSameNvccIfItCompilesAnyConfig) {
  place_.sharing = session::Sharing{{"a/cuda:0", "b/cuda:0"}, place_.device.device, {}};
  const auto by_nvcc = [&] {
    session_.asked.clear();
    EXPECT_TRUE(search().run());
    std::set<bool> said;
    for (const ScanSession::Asked& one : session_.asked) said.insert(one.request.sharing->by_nvcc);
    return said;
  };
  EXPECT_THAT(by_nvcc(), ElementsAre(false));
  candidates_.configs[2].options.compiler = CompilerChoice::nvcc;
  plan_.strategy = search::StrategyKind::halving;
  EXPECT_THAT(by_nvcc(), ElementsAre(true)) << "in every round, and under the watch";
  EXPECT_FALSE(place_.sharing->by_nvcc) << "a place is not of one search";
  candidates_.configs[2].options.compiler = CompilerChoice::nvrtc;
  EXPECT_THAT(by_nvcc(), ElementsAre(false)) << "the place's next search";
}

// K=3 takes 10 us, 2 and 4 take 20, 1 takes 30; a tie is kept.
TEST_F(SearchTest, HalvingTimesTheFasterHalfForLonger) {
  plan_.strategy = search::StrategyKind::halving;
  settings_.watch = Watching::nothing;
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4", "cuda:0 3 2 4", "cuda:0 3 2 4"));
  std::vector<int64_t> ms;
  for (const ScanSession::Asked& one : session_.asked) ms.push_back(one.request.draft.measure.max_time_ms);
  EXPECT_THAT(ms, ElementsAre(30, 60, 2000));
  EXPECT_THAT(search.notes(),
              ElementsAre("halving: 4 configs up to 30 ms, then 3 configs up to 60 ms, then 3 up to 2000 ms"));
  EXPECT_THAT(ranked(search), ElementsAre("K=3", "K=2", "K=4"));
  EXPECT_EQ(search.counts().tried, 4u);
  const Board board = search.board();
  ASSERT_EQ(board.rejected.size(), 1u);
  EXPECT_EQ(board.rejected[0].config, "K=1");
  EXPECT_EQ(board.rejected[0].why, "dropped");
  EXPECT_THAT(board.rejected[0].reason, HasSubstr("30.00 us in a round of up to 30 ms"));
}

TEST_F(SearchTest, AStoppedHalvingHasWhatItsRoundHad) {
  Control control;
  plan_.strategy = search::StrategyKind::halving;
  settings_.watch = Watching::nothing;
  settings_.control = &control;
  session_.holds = 2;
  settings_.on_look = [&](const session::Snapshot&) { control.stop(); };
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_EQ(session_.asked.size(), 1u);
  EXPECT_THAT(ranked(search), ElementsAre("K=2", "K=1")) << "of a round that is no last one, too";
}

TEST_F(SearchTest, WhatIsWatchedIsAsWished) {
  settings_.watch = Watching::nothing;
  ASSERT_TRUE(search().run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4"));
  session_.asked.clear();
  settings_.watch = Watching::everything;
  ASSERT_TRUE(search().run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0! 1 2 3 4"));
  session_.asked.clear();
  settings_.watch = Watching::leaders;
  place_.emulated.front().arch = 89;  // no emulated device executes the GPU's code
  ASSERT_TRUE(search().run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4"));
  session_.asked.clear();
  place_.emulated.front().arch = 90;
  plan_.kernel.library = LibraryId::cublas;
  ASSERT_TRUE(search().run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4")) << "a library's code is not watched";
}

TEST_F(SearchTest, ARacyWinnerGivesWayToTheNext) {
  racy_ = 3;
  int gates = 0;
  settings_.on_gate = [&] { ++gates; };
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4", "cuda:0! 3", "cuda:0! 2 4")) << "2 and 4 tie";
  EXPECT_EQ(gates, 1) << "said once";
  EXPECT_THAT(ranked(search), ElementsAre("K=2", "K=4", "K=1"));
  session_.asked.clear();
  settings_.watch = Watching::fastest;
  ASSERT_TRUE(this->search().run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2 3 4", "cuda:0! 3", "cuda:0! 2")) << "one of those that tie";
}

TEST_F(SearchTest, AModelRanksForTheGpu) {
  plan_.strategy = search::StrategyKind::model_guided;
  plan_.budget = 2;
  wrong_in_model_ = 4;
  settings_.brief = true;
  settings_.watch = Watching::nothing;
  std::vector<std::pair<bool, size_t>> told;  // by the model; at most
  settings_.on_progress = [&](const Progress& now) {
    if (told.empty() || told.back().first != now.of_model) told.emplace_back(now.of_model, now.most);
    EXPECT_EQ(now.at_most, !now.of_model);
  };
  std::vector<std::string> modelled;
  settings_.on_progress = [&, tell = settings_.on_progress](const Progress& now) {
    tell(now);
    modelled.push_back(modelled_text(now.modelled, now.to_model));
  };
  std::set<std::string> shown;
  settings_.on_scan = [&](const session::Shared<Scan>& scan) { shown.insert(scan->held.device); };
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_EQ(asks().front(), "emulated:h200 1 2 3 4");
  EXPECT_EQ(search.plan().model, "emulated:h200");
  EXPECT_THAT(told, ElementsAre(testing::Pair(true, 4u), testing::Pair(false, 2u)));
  EXPECT_THAT(shown, ElementsAre("cuda:0")) << "the scan of the model is not";
  EXPECT_EQ(modelled.front(), "modelled 4 of 4");
  EXPECT_EQ(modelled.back(), "modelled 0 of 0") << "nothing is ranked any more";
  ASSERT_EQ(search.counts().tried, 2u);
  for (size_t at = 0; at < 2; ++at) {
    const int64_t k = search.scan().points[at].config.knobs.at("K");
    EXPECT_EQ(search.predicted(at), 10 + 10 * std::abs(static_cast<double>(k - 2))) << k;
    EXPECT_NE(k, 4) << "the model rejects it";
  }
  EXPECT_FALSE(search.predicted(2)) << "it was not tried";
  for (const ScanSession::Asked& one : session_.asked)
    if (is_model(one.request.draft.device)) {
      EXPECT_EQ(one.request.draft.measure.sampled_share, ranking_share(plan_.held.problem));
    }
}

TEST_F(SearchTest, AModelWithASessionOfItsOwnRanksWhileTheDeviceRuns) {
  ScanSession beside;
  beside.answer = session_.answer;
  size_t modelled_first = 0;  // requests of the model before the first config ran on the device
  const auto answer = session_.answer;
  session_.answer = [&](const Experiment& e, bool watched) {
    if (session_.asked.size() == 1) modelled_first = beside.asked.size();
    return answer(e, watched);
  };
  place_.open_beside = [&] { return &beside; };
  plan_.strategy = search::StrategyKind::model_guided;
  settings_.watch = Watching::nothing;
  Search search = this->search();
  ASSERT_TRUE(search.run()) << "without a budget";
  EXPECT_EQ(modelled_first, 1u) << "it had been asked before";
  ASSERT_EQ(beside.asked.size(), 1u) << "for all at once";
  EXPECT_EQ(beside.asked[0].ran.size(), 4u);
  EXPECT_EQ(beside.asked[0].request.draft.device, "emulated:h200");
  for (const std::string& one : asks()) EXPECT_THAT(one, testing::StartsWith("cuda:0 "));
  EXPECT_EQ(session_.asked[0].ran.size(), 2u);
  EXPECT_EQ(session_.asked[0].ran[0], plan_.held.config) << "where nothing is predicted yet";
  EXPECT_EQ(ranked(search).front(), "K=3");
  for (size_t at = 0; at < search.scan().points.size(); ++at)
    EXPECT_EQ(search.predicted(at),
              10 + 10 * std::abs(static_cast<double>(search.scan().points[at].config.knobs.at("K") - 2)));
}

// A model in a session of its own, of whose configs the first one has ended while the device runs.
TEST_F(SearchTest, TheDevicesProgressHasTheModelsCount) {
  ScanSession beside;
  beside.answer = session_.answer;
  beside.holds = 1;
  place_.open_beside = [&] { return &beside; };
  plan_.strategy = search::StrategyKind::model_guided;
  plan_.budget = 2;
  settings_.watch = Watching::nothing;
  std::vector<std::pair<size_t, std::string>> told;  // the device's configs, and the model's
  Control control;
  settings_.control = &control;
  settings_.on_progress = [&](const Progress& now) {
    EXPECT_FALSE(now.of_model);
    told.emplace_back(now.ended, modelled_text(now.modelled, now.to_model));
    if (now.ended == 2) control.stop();
  };
  ASSERT_TRUE(search().run());
  EXPECT_THAT(told, ElementsAre(testing::Pair(2u, "modelled 1 of 4")));
}

// The device's config runs until the model's have ended.
TEST_F(SearchTest, WhatTheModelRanksIsToldWhileTheDeviceRuns) {
  ScanSession beside;
  beside.answer = session_.answer;
  place_.open_beside = [&] { return &beside; };
  plan_.strategy = search::StrategyKind::model_guided;
  plan_.budget = 2;
  settings_.watch = Watching::nothing;
  Control control;
  settings_.control = &control;
  session_.holds = 1;
  beside.holds = 3;
  std::vector<std::string> told;
  settings_.on_progress = [&](const Progress& now) { told.push_back(modelled_text(now.modelled, now.to_model)); };
  int looks = 0;
  settings_.on_look = [&](const session::Snapshot&) {
    if (++looks == 2) beside.release();
    if (looks == 4) control.stop();
  };
  ASSERT_TRUE(search().run());
  EXPECT_THAT(told, ElementsAre("modelled 3 of 4", "modelled 4 of 4", "modelled 4 of 4"))
      << "the last one is the stop's";
}

TEST_F(SearchTest, AJobsProgressInWords) {
  JobState state;
  state.phase = Phase::ranking;
  state.ended = state.modelled = 340;
  state.most = state.to_model = 1200;
  EXPECT_EQ(progress_text(state, false), "ranking: modelled 340 of 1,200");
  EXPECT_EQ(progress_text(state, true), "paused: modelled 340 of 1,200");
  state.phase = Phase::running;
  state.ended = 12;
  state.most = 40;
  EXPECT_EQ(progress_text(state, false), "running: 12 of 40, modelled 340 of 1,200");
  state.briefly = 8;
  EXPECT_EQ(progress_text(state, false), "running: 12 of 40, 8 timed briefly, modelled 340 of 1,200");
  state.phase = Phase::done;
  EXPECT_EQ(progress_text(state, true), "done: 12 of 40");
  state.briefly = 0;
  state.phase = Phase::running;
  state.to_model = 0;
  EXPECT_EQ(progress_text(state, false), "running: 12 of 40") << "no model ranks";
}

TEST_F(SearchTest, AModelInTheSameSessionTakesTurnsWithTheDevice) {
  plan_.strategy = search::StrategyKind::model_guided;
  plan_.budget = 3;
  settings_.watch = Watching::nothing;
  std::vector<std::string> told;
  settings_.on_progress = [&](const Progress& now) {
    told.push_back((now.of_model ? "! " : "") + modelled_text(now.modelled, now.to_model));
  };
  ASSERT_TRUE(search().run());
  EXPECT_THAT(told, ElementsAre("modelled 0 of 4", "! modelled 4 of 4", "modelled 4 of 4"));
  const std::vector<std::string> all = asks();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0], testing::StartsWith("cuda:0 1 ")) << "the held config and a random one";
  EXPECT_THAT(all[1], testing::StartsWith("emulated:h200 "));
  EXPECT_THAT(all[2], testing::StartsWith("cuda:0 "));
}

TEST_F(SearchTest, AModelWithoutItsSessionIsTheFailure) {
  plan_.strategy = search::StrategyKind::model_guided;
  place_.open_beside = []() -> Result<session::Session*> { return fail(Stage::device, "no second worker", ""); };
  const auto done = search().run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no second worker");
}

TEST_F(SearchTest, AModelThatIsNotThereIsTheFailure) {
  plan_.strategy = search::StrategyKind::model_guided;
  plan_.model = "emulated:other";
  auto done = search().run();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("there is no emulated device emulated:other"));
  plan_.model.clear();
  place_.find = [](const std::string&) -> Result<Found> { return fail(Stage::device, "its worker is lost", ""); };
  done = search().run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "its worker is lost");
  session_.refusal = Failure{Stage::device, "gone", ""};
  plan_.strategy = search::StrategyKind::exhaustive;
  done = search().run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "gone");
}

TEST_F(SearchTest, AnEmulatedDeviceIsItsOwnModel) {
  place_.device.device = place_.emulated.front();
  place_.device.device.emulated = true;
  plan_.held.device = "emulated:h200";
  plan_.strategy = search::StrategyKind::model_guided;
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_EQ(asks().front(), "emulated:h200 1 2 3 4");
  EXPECT_THAT(search.notes(), ElementsAre(HasSubstr("emulated:h200 is modelled itself")));
  EXPECT_EQ(search.plan().strategy, search::StrategyKind::exhaustive);
  EXPECT_EQ(ranked(search).front(), "K=2");
}

TEST_F(SearchTest, OnlyAnEvolutionStartsFromTheMicrobenchmarks) {
  const testing_support::TempDir dir;
  auto results = store::Results::open(dir / "results.db");
  ASSERT_TRUE(results) << results.error().message;
  place_.results = std::move(*results);
  place_.resources = dir / "nothing";  // which a search that looks for them says
  settings_.watch = Watching::nothing;
  for (const auto strategy : {search::StrategyKind::exhaustive, search::StrategyKind::evolutionary}) {
    plan_.strategy = strategy;
    plan_.budget = strategy == search::StrategyKind::evolutionary ? 2 : 0;
    Search search = this->search();
    ASSERT_TRUE(search.run());
    const bool looked = std::ranges::any_of(
        search.notes(), [](const std::string& note) { return note.starts_with("no microbenchmark counts: "); });
    EXPECT_EQ(looked, strategy == search::StrategyKind::evolutionary);
  }
}

TEST_F(SearchTest, AStoppedSearchWatchesNothing) {
  Control control;
  settings_.control = &control;
  session_.holds = 2;
  settings_.on_look = [&](const session::Snapshot&) { control.stop(); };
  Search search = this->search();
  ASSERT_TRUE(search.run());
  EXPECT_THAT(asks(), ElementsAre("cuda:0 1 2"));
  EXPECT_EQ(search.counts().tried, 2u);
}

// --- On a thread of its own
// -------------------------------------------------------------------------------------------

const JobState& ended(const Job& job, std::shared_ptr<const JobState>& state) {
  while (!(state = job.state())->over()) std::this_thread::yield();
  return *state;
}

TEST_F(SearchTest, AJobEndsWithItsTrials) {
  const testing_support::TempDir folder;
  std::atomic<int> changes{0};
  std::shared_ptr<const JobState> state;
  {
    Job job(plan_, candidates_, std::move(place_), folder / "results.sqlite", Watching::leaders, [&] { ++changes; });
    const JobState& last = ended(job, state);
    EXPECT_EQ(last.phase, Phase::done);
    EXPECT_EQ(last.ended, 4u);
    EXPECT_EQ(last.most, 4u);
    EXPECT_FALSE(last.left_seconds);
    EXPECT_FALSE(last.failure);
    ASSERT_EQ(last.trials->rows.size(), 4u);
    EXPECT_EQ(last.trials->rows.front().rank, 1u);
    EXPECT_TRUE(last.trials->rows.front().watched);
    EXPECT_THAT(last.notes, IsEmpty());
    EXPECT_EQ(job.plan().kernel.id, "k");
  }
  EXPECT_GE(changes, 1);
  const auto kept = store::Results::open(folder / "results.sqlite");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ((*kept)->count().value_or(-1), 5) << "four configs, and the leader's watch";
}

TEST_F(SearchTest, AJobThatCannotGoOnSaysWhy) {
  session_.refusal = Failure{Stage::device, "gone", ""};
  std::shared_ptr<const JobState> state;
  const Job job(plan_, candidates_, std::move(place_), "", Watching::leaders, nullptr);
  EXPECT_EQ(ended(job, state).phase, Phase::failed);
  EXPECT_EQ(state->failure->message, "gone");
  EXPECT_TRUE(state->trials->rows.empty());
}

TEST_F(SearchTest, AStoppedJobHasWhatCameBefore) {
  session_.holds = 1;
  Job job(plan_, candidates_, std::move(place_), "", Watching::leaders, nullptr);
  job.stop();
  std::shared_ptr<const JobState> state;
  EXPECT_EQ(ended(job, state).phase, Phase::stopped);
  EXPECT_LE(state->ended, 1u);
}

TEST(JobPhases, HaveWords) {
  EXPECT_EQ(words_of(Phase::ranking), "ranking");
  EXPECT_EQ(words_of(Phase::running), "running");
  EXPECT_EQ(words_of(Phase::watching), "watching the fastest");
  EXPECT_EQ(words_of(Phase::stopped), "stopped");
  EXPECT_EQ(words_of(Phase::done), "done");
  EXPECT_EQ(words_of(Phase::failed), "failed");
  JobState state;
  for (const Phase phase : {Phase::ranking, Phase::running, Phase::watching}) {
    state.phase = phase;
    EXPECT_FALSE(state.over());
  }
}

}  // namespace
}  // namespace attnscope::sweep
