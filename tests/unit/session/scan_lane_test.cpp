#include "session/scan_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "catalog/validate.h"

namespace attnscope::session {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

class ScanLaneTest : public testing::Test {
 protected:
  ScanLaneTest() {
    const auto catalog = catalog::load_catalog({kSource / "kernels"});
    kernel_ = share(*find_kernel(catalog.kernels, "tiled"));
    for (DeviceSpec& spec : catalog::load_devices(kSource / "assets/devices").devices)
      if (spec.id == "emulated:l4") spec_ = std::move(spec);
    held_.kernel = "tiled";
    held_.kernel_hash = kernel_->content_hash;
    held_.device = "box/emulated:l4";
    held_.config = *catalog::complete_config(*kernel_, {}, {});
  }

  void add(const std::vector<std::string>& knobs, bool warned = true) {
    ScanRequest request{.id = ++id_, .draft = held_, .knobs = knobs};
    request.warned = warned;
    add(request);
  }
  void add_config(const std::map<std::string, int64_t>& set, std::vector<Shared<Observation>> known = {}) {
    ScanRequest request{.id = ++id_, .draft = held_, .knobs = {}};
    request.set = set;
    request.known = std::move(known);
    add(request);
  }
  void add(const ScanRequest& request) {
    Resolution resolution;
    resolution.experiment = held_;
    resolution.kernel = kernel_;
    resolution.place = {1, held_.device, "emulated:l4", &spec_};
    lane_.add(request, resolution);
  }
  Config with(std::map<std::string, int64_t> knobs) { return *catalog::complete_config(*kernel_, knobs, {}); }
  void add_configs(const std::vector<Config>& configs, std::vector<Shared<Observation>> known = {}) {
    ScanRequest request{.id = ++id_, .draft = held_, .knobs = {}};
    request.configs = configs;
    request.known = std::move(known);
    add(request);
  }
  // Runs the next value: its time and its code. An empty text: the run ends after its limits.
  Experiment run(const std::string& code, double us) {
    const auto step = lane_.next();
    if (!step) return {};
    lane_.started(++job_);
    VariantInfo variant;
    variant.code_hash = code;
    lane_.take_part({job_, {std::optional(variant)}});
    Timing timing;
    timing.p50 = us;
    if (us > 0) lane_.take_part({job_, {std::optional(timing), std::optional(Verdict{})}});
    lane_.finish(job_, std::nullopt, "box", {});
    return step->experiment;
  }
  // What the next value is told; it exists and does not start.
  protocol::Among next_among() {
    const auto step = lane_.next();
    EXPECT_TRUE(step);
    return step ? step->among : protocol::Among{};
  }
  const Scan& last() const { return *lane_.view().back(); }

  Shared<Kernel> kernel_;
  DeviceSpec spec_;
  Experiment held_;
  ScanLane lane_;
  uint64_t id_ = 0;
  JobId job_ = 10;
};

TEST_F(ScanLaneTest, RunsAValueAfterTheOther) {
  add({"BLOCK_N"});
  EXPECT_FALSE(last().over());
  const Experiment first = run("a", 5);
  EXPECT_EQ(first.config.knobs.at("BLOCK_N"), 32);
  EXPECT_EQ(first.device, "box/emulated:l4");
  EXPECT_EQ(run("b", 6).config.knobs.at("BLOCK_N"), 64);
  EXPECT_TRUE(last().over());
  EXPECT_FALSE(lane_.next());
  EXPECT_EQ(last().points[0].observation->timing->p50, 5);
  EXPECT_EQ(last().points[0].observation->device, "box/emulated:l4");
  EXPECT_EQ(last().points[1].observation->timing->p50, 6);
  EXPECT_TRUE(last().points[1].current);
}

TEST_F(ScanLaneTest, AnEmulatedValueRunsASampleAndAllOfItsCtasWhereThatLeavesADoubt) {
  held_.problem.heads = held_.problem.kv_heads = 8;
  held_.problem.seq_q = held_.problem.seq_k = 512;
  add({"BLOCK_N"});
  const auto finish = [&](int64_t ctas, int64_t rows) {
    const auto step = lane_.next();
    lane_.started(++job_);
    Counters counters;
    counters.emulated_ctas = ctas;
    counters.total_ctas = 128;
    Verdict verdict;
    verdict.state = VerdictState::correct;
    verdict.rows_checked = rows;
    verdict.rows_total = 4096;
    Timing timing;
    timing.p50 = 5;
    lane_.take_part(
        {job_, {std::optional(VariantInfo{}), std::optional(timing), std::optional(counters), std::optional(verdict)}});
    lane_.finish(job_, std::nullopt, "box", {});
    return step->experiment;
  };
  const Experiment first = finish(24, 700);
  EXPECT_LT(first.measure.sampled_share, 0.2);
  EXPECT_FALSE(last().points[0].observation) << "24 CTAs write 768 rows";
  EXPECT_NE(finish(24, 768).config, first.config);
  EXPECT_EQ(last().points[1].observation->verdict->rows_checked, 768);
  const Experiment again = finish(128, 4096);
  EXPECT_EQ(again.config, first.config);
  EXPECT_EQ(again.measure.sampled_share, 1);
  EXPECT_EQ(last().points[0].observation->verdict->rows_checked, 4096);
  EXPECT_TRUE(last().over());
}

TEST_F(ScanLaneTest, WhatIsWatchedOrNamedByItsConfigRunsWhole) {
  held_.problem.heads = held_.problem.kv_heads = 8;
  held_.problem.seq_q = held_.problem.seq_k = 512;
  add_configs({with({{"BLOCK_N", 32}})});
  EXPECT_EQ(run("a", 5).measure.sampled_share, 1);
  ScanRequest watched{.id = ++id_, .draft = held_, .knobs = {"BLOCK_N"}};
  watched.watch = Watch::always;
  add(watched);
  EXPECT_EQ(lane_.next()->experiment.measure.sampled_share, 1);
}

TEST_F(ScanLaneTest, OneRunsAtATime) {
  add({"BLOCK_N"});
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  EXPECT_FALSE(lane_.next());
  EXPECT_TRUE(lane_.is(7));
  EXPECT_FALSE(lane_.is(0));
}

TEST_F(ScanLaneTest, KnobsComeInTheManifestsOrderAndTheCurrentConfigOnce) {
  add({"NUM_WARPS", "BLOCK_N"});
  std::vector<std::string> knobs;
  for (const ScanPoint& point : last().points) knobs.push_back(point.knob);
  EXPECT_THAT(knobs,
              ElementsAre("BLOCK_N", "BLOCK_N", "NUM_WARPS", "NUM_WARPS", "NUM_WARPS", "NUM_WARPS", "NUM_WARPS"));
  EXPECT_FALSE(last().points[1].same_as);
  EXPECT_EQ(last().points[4].same_as, 1u) << "both are the held config";
}

TEST_F(ScanLaneTest, ValuesThatTheManifestWarnsOfCanBeLeftOut) {
  add({"SYNC_POLICY"});
  EXPECT_EQ(last().points.size(), 3u);
  EXPECT_FALSE(last().points[0].warnings.empty());
  add({"SYNC_POLICY"}, false);
  ASSERT_EQ(last().points.size(), 1u);
  EXPECT_TRUE(last().points[0].current);
}

TEST_F(ScanLaneTest, AListOfConfigsRunsInItsOrder) {
  const Config wide = with({{"NUM_WARPS", 8}, {"BLOCK_N", 32}}), racy = with({{"SYNC_POLICY", 0}});
  add_configs({wide, with({{"BLOCK_M", 64}}), held_.config, racy, wide});
  const auto& points = last().points;
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[0].knob, "");
  EXPECT_EQ(points[0].value.text(), short_text(wide, *kernel_));
  EXPECT_FALSE(points[0].current);
  ASSERT_TRUE(points[1].refused) << "64 rows do not fit";
  EXPECT_EQ(points[1].refused->stage, Stage::limits);
  EXPECT_TRUE(points[2].current);
  EXPECT_FALSE(points[3].warnings.empty());
  EXPECT_EQ(points[4].same_as, 0u);
  EXPECT_EQ(run("a", 5).config, wide);
  EXPECT_EQ(run("b", 6).config, held_.config);
  EXPECT_EQ(run("c", 7).config, racy);
  EXPECT_TRUE(last().over());
  EXPECT_EQ(last().timed(4)->timing->p50, 5);
}

TEST_F(ScanLaneTest, ALongerListKnowsWhatTheShorterOneRan) {
  const Config four = with({{"VEC_WIDTH", 4}}), eight = with({{"VEC_WIDTH", 8}}), one = with({{"VEC_WIDTH", 1}});
  add_configs({four, eight});
  run("a", 5);
  run("a", 0);
  ASSERT_EQ(last().points[1].same_as, 0u);
  const std::vector<Shared<Observation>> known{last().points[0].observation, last().points[1].observation};
  add_configs({four, eight, one}, known);
  EXPECT_EQ(last().timed(0), known[0].get());
  EXPECT_EQ(last().points[1].same_as, 0u) << "its machine code is known";
  EXPECT_EQ(run("b", 6).config, one);
  EXPECT_TRUE(last().over());
  // Machine code from another run than the timed one says nothing.
  add_configs({eight}, {known[1]});
  EXPECT_FALSE(last().over());
  EXPECT_EQ(run("a", 5).config, eight);
}

TEST_F(ScanLaneTest, AnotherScanOfTheSameConfigsLeavesTheOthersAsTheyWere) {
  add_configs({held_.config});
  add_configs({with({{"NUM_WARPS", 8}})});
  run("a", 5);
  run("b", 6);
  ASSERT_EQ(lane_.view().size(), 2u);
  EXPECT_EQ(lane_.view()[0]->timed(0)->timing->p50, 5);
  EXPECT_EQ(lane_.view()[1]->timed(0)->timing->p50, 6);
}

TEST_F(ScanLaneTest, OneThatIsEndedKeepsWhatHasEndedAndMakesWay) {
  add_configs({held_.config, with({{"NUM_WARPS", 8}}), with({{"NUM_WARPS", 2}})});
  const uint64_t id = last().id;
  run("a", 5);
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  add({"BLOCK_N"});
  EXPECT_TRUE(lane_.end_early(id)) << "it ran";
  EXPECT_FALSE(lane_.is(7));
  const Scan& ended = *lane_.view()[0];
  EXPECT_TRUE(ended.over() && ended.ended_early);
  EXPECT_TRUE(ended.points[0].observation);
  EXPECT_FALSE(ended.points[1].ended());
  EXPECT_FALSE(lane_.end_early(id)) << "it is over";
  EXPECT_FALSE(lane_.end_early(99));
  EXPECT_EQ(run("b", 6).config.knobs.at("BLOCK_N"), 32) << "the next scan goes on";
}

TEST_F(ScanLaneTest, OneThatIsEndedWhileItIsHeldNeverRuns) {
  lane_.hold({.id = 1, .draft = held_, .knobs = {}});
  lane_.hold({.id = 2, .draft = held_, .knobs = {}});
  EXPECT_FALSE(lane_.end_early(1)) << "it did not run";
  const auto released = lane_.release();
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].id, 2u);
}

TEST_F(ScanLaneTest, OneThatStaysGivesWayAndOutlivesAChangeOfWhatIsWanted) {
  ScanRequest sweep{.id = ++id_, .draft = held_, .knobs = {}};
  sweep.configs = {with({{"VEC_WIDTH", 1}}), with({{"VEC_WIDTH", 2}})};
  sweep.stays = true;
  add(sweep);
  EXPECT_EQ(run("a", 5).config.knobs.at("VEC_WIDTH"), 1);
  add({"BLOCK_N"});
  add({"NUM_WARPS"});
  EXPECT_EQ(run("b", 6).config.knobs.at("BLOCK_N"), 32) << "the oldest of those that do not stay";
  Draft other = held_;
  other.problem.seq_q = 64;
  EXPECT_FALSE(lane_.keep_for(other)) << "nothing ran";
  ASSERT_EQ(lane_.view().size(), 1u) << "the knobs' scans are gone";
  EXPECT_EQ(run("c", 7).config.knobs.at("VEC_WIDTH"), 2);
  EXPECT_TRUE(last().over());
}

TEST_F(ScanLaneTest, WhatRunsOfAScanThatStaysEndsInItsOwnPlace) {
  ScanRequest sweep{.id = ++id_, .draft = held_, .knobs = {}};
  sweep.configs = {with({{"VEC_WIDTH", 1}}), with({{"VEC_WIDTH", 2}})};
  sweep.stays = true;
  add(sweep);
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  add({"BLOCK_N"});  // takes its slot in the list while it runs
  lane_.finish(7, Failure{Stage::launch, "no", ""}, "box", {});
  const auto one = std::ranges::find(lane_.view(), sweep.id, [](const auto& scan) { return scan->id; });
  ASSERT_NE(one, lane_.view().end());
  ASSERT_TRUE((*one)->points[0].observation);
  EXPECT_EQ((*one)->points[0].observation->failure->stage, Stage::launch);
}

TEST_F(ScanLaneTest, SaysWhatComesNextByTheWorkersNameOfTheDevice) {
  add({"NUM_WARPS"});
  const auto among = next_among();
  ASSERT_EQ(among.ahead.size(), 4u);
  EXPECT_EQ(among.ahead[0].device, "emulated:l4");
  EXPECT_EQ(among.ahead[0].config.knobs.at("NUM_WARPS"), 2);
  EXPECT_EQ(among.ahead[3].config.knobs.at("NUM_WARPS"), 8);
  EXPECT_THAT(among.known_codes, IsEmpty());
}

TEST_F(ScanLaneTest, ASweepSaysWhatIsHopelessOnceACorrectOneIsMeasured) {
  const auto measured = [&](bool correct, double high) {
    ASSERT_TRUE(lane_.next());
    lane_.started(++job_);
    VariantInfo variant;
    variant.code_hash = std::to_string(job_);
    Timing timing;
    timing.kind = FigureKind::measured;
    timing.p50 = timing.interval_high = high;
    Verdict verdict;
    verdict.state = correct ? VerdictState::correct : VerdictState::wrong;
    lane_.take_part({job_, {std::optional(variant), std::optional(timing), std::optional(verdict)}});
    lane_.finish(job_, std::nullopt, "box", {});
  };
  add({"NUM_WARPS"});
  measured(true, 20);
  EXPECT_FALSE(next_among().hopeless_us) << "a scan of a knob times every value";
  while (lane_.next()) run("b", 9);

  ScanRequest sweep{.id = ++id_, .draft = held_, .knobs = {}};
  sweep.discards = true;
  for (const int64_t warps : {1, 2, 4, 8}) sweep.configs.push_back(with({{"NUM_WARPS", warps}}));
  add(sweep);
  measured(false, 5);
  EXPECT_FALSE(next_among().hopeless_us) << "a wrong one is not to be beaten";
  measured(true, 20);
  EXPECT_EQ(next_among().hopeless_us, 24);
  measured(true, 10);
  EXPECT_EQ(next_among().hopeless_us, 12) << "of the fastest";
}

// A sweep of five configs on a GPU; each run is timed as long as the worker is told to.
class Screened : public ScanLaneTest {
 protected:
  Screened() {
    spec_.emulated = false;
    ScanRequest sweep{.id = ++id_, .draft = held_, .knobs = {}};
    sweep.discards = true;
    for (const int64_t warps : {1, 2, 4, 6, 8}) sweep.configs.push_back(with({{"NUM_WARPS", warps}}));
    sweep_ = sweep;
  }
  void add_shared() {
    sweep_.sharing = Sharing{{"a", "b"}, spec_, {}};
    Resolution resolution;
    resolution.experiment = held_;
    resolution.kernel = kernel_;
    resolution.place = {0, held_.device, held_.device, &spec_};
    resolution.shared_places = {{1, "a", "emulated:l4", nullptr}, {2, "b", "emulated:l4", nullptr}};
    lane_.add(sweep_, resolution);
    look_ = [&](const DeviceTable::Place&) { return PlaceNow{true, false, &spec_, {}, ""}; };
  }
  // Returns the warps of the config that ran.
  int64_t run_for(double us, VerdictState state = VerdictState::correct, const std::string& code = "") {
    const auto step = lane_.next(look_);
    if (!step) return 0;
    lane_.started(++job_);
    VariantInfo variant;
    variant.code_hash = code.empty() ? std::to_string(job_) : code;
    const int64_t warps = step->experiment.config.knobs.at("NUM_WARPS");
    if (std::ranges::count(step->among.known_codes, code) > 0) {
      lane_.take_part({job_, {std::optional(variant)}});
      lane_.finish(job_, std::nullopt, "box", {});
      return warps;
    }
    Timing timing;
    timing.kind = FigureKind::measured;
    timing.p50 = us;
    timing.interval_high = us + 0.1;
    timing.sampling = Sampling{};
    timing.sampling->rounds = {{us, us + 0.2}, {us - 0.1, us}};
    const bool stops = step->among.hopeless_us && us - 0.1 > *step->among.hopeless_us;
    timing.sampling->stopped = stops ? Stopped::hopeless : Stopped::stable;
    Verdict verdict;
    verdict.state = state;
    lane_.take_part({job_, {std::optional(variant), std::optional(timing), std::optional(verdict)}});
    lane_.finish(job_, std::nullopt, "box", {});
    return warps;
  }
  Stopped stopped(size_t point) const { return last().points.at(point).observation->timing->sampling->stopped; }
  ScanRequest sweep_;
  LookAt look_;
};

TEST_F(Screened, OnlyWhatIsNearTheFastestIsTimedInFull) {
  add(sweep_);
  EXPECT_EQ(run_for(40), 1);
  EXPECT_EQ(run_for(20), 2) << "it is not followed at once, because a faster one may come";
  EXPECT_EQ(run_for(10), 4);
  EXPECT_EQ(run_for(11), 6);
  EXPECT_FALSE(last().points[0].ended());
  EXPECT_EQ(last().briefly, 4);
  EXPECT_EQ(run_for(7, VerdictState::wrong), 8);
  EXPECT_TRUE(last().points[4].ended()) << "what cannot win is not timed again";
  EXPECT_EQ(last().briefly, 4) << "the wrong one is none of them";
  EXPECT_EQ(run_for(10), 4);
  EXPECT_EQ(last().briefly, 1) << "two were too slow to run again";
  EXPECT_TRUE(last().points[0].ended());
  EXPECT_TRUE(last().points[1].ended());
  EXPECT_EQ(run_for(11), 6);
  EXPECT_TRUE(last().over());
  EXPECT_FALSE(lane_.next());
  EXPECT_EQ(stopped(0), Stopped::hopeless);
  EXPECT_EQ(stopped(1), Stopped::hopeless);
  EXPECT_EQ(stopped(2), Stopped::stable);
  EXPECT_EQ(stopped(3), Stopped::stable);
}

TEST_F(Screened, ASecondLookSaysOnceMoreWhatIsHopeless) {
  add(sweep_);
  for (const double us : {40, 20, 10, 11, 40}) run_for(us);
  EXPECT_DOUBLE_EQ(next_among().hopeless_us.value_or(0), ScanLane::kHopeless * 10.1);
  EXPECT_EQ(run_for(10), 4);
  EXPECT_EQ(run_for(13), 6) << "another placement is slower";
  EXPECT_TRUE(last().over());
  EXPECT_EQ(stopped(3), Stopped::hopeless);
}

TEST_F(Screened, TheFirstOnesOfALongSweepSayWhatIsHopelessForTheRest) {
  sweep_.configs.clear();
  for (const int64_t rows : {16, 32})
    for (const int64_t warps : {1, 2, 4, 8})
      for (const int64_t width : {1, 2, 4, 8})
        for (const int64_t swizzle : {0, 1})
          sweep_.configs.push_back(
              with({{"BLOCK_M", rows}, {"NUM_WARPS", warps}, {"VEC_WIDTH", width}, {"SWIZZLE_XOR", swizzle}}));
  ASSERT_GT(sweep_.configs.size(), Screening::kMost + 2);
  add(sweep_);
  for (size_t at = 0; at < Screening::kMost; ++at) run_for(at == 3 ? 10 : 30);
  EXPECT_TRUE(last().points[0].ended());
  EXPECT_FALSE(last().points[3].ended());
  EXPECT_EQ(lane_.next()->experiment.config, sweep_.configs[3]) << "before the rest, so that there is a best soon";
  run_for(10);
  EXPECT_EQ(stopped(3), Stopped::stable);
  EXPECT_DOUBLE_EQ(next_among().hopeless_us.value_or(0), ScanLane::kHopeless * 10.1);
  EXPECT_EQ(lane_.next()->experiment.config, sweep_.configs[Screening::kMost]);
  run_for(11);
  EXPECT_EQ(stopped(Screening::kMost), Stopped::stable) << "at once, in one run";
}

TEST_F(Screened, WhatNobodyCheckedIsTimedInFull) {
  add(sweep_);
  for (const double us : {40, 20, 10, 11, 40}) {
    run_for(us, VerdictState::unchecked);
    EXPECT_FALSE(last().points[0].ended());
  }
  EXPECT_FALSE(next_among().hopeless_us) << "no correct config sets a time to beat";
  for (const double us : {40, 20, 10, 11, 40}) run_for(us, VerdictState::unchecked);
  EXPECT_TRUE(last().over());
  for (size_t at = 0; at < 5; ++at) EXPECT_EQ(stopped(at), Stopped::stable) << at;
}

TEST_F(Screened, WhatNobodyCheckedIsNotToBeBeaten) {
  add(sweep_);
  run_for(5, VerdictState::unchecked);
  for (const double us : {40, 20, 10, 11}) run_for(us);
  EXPECT_DOUBLE_EQ(next_among().hopeless_us.value_or(0), ScanLane::kHopeless * 10.1);
  EXPECT_EQ(run_for(5, VerdictState::unchecked), 1);
  EXPECT_EQ(stopped(0), Stopped::stable);
  EXPECT_TRUE(last().points[1].ended());
}

TEST_F(Screened, WrongOnesCountToo) {
  sweep_.configs.clear();
  for (const int64_t rows : {16, 32})
    for (const int64_t warps : {1, 2, 4, 8})
      for (const int64_t width : {1, 2, 4, 8})
        for (const int64_t swizzle : {0, 1})
          sweep_.configs.push_back(
              with({{"BLOCK_M", rows}, {"NUM_WARPS", warps}, {"VEC_WIDTH", width}, {"SWIZZLE_XOR", swizzle}}));
  add(sweep_);
  run_for(10);
  for (size_t at = 1; at < Screening::kMost; ++at) run_for(7, VerdictState::wrong);
  EXPECT_EQ(lane_.next()->experiment.config, sweep_.configs[0]);
  run_for(10);
  EXPECT_EQ(stopped(0), Stopped::stable);
}

TEST_F(Screened, OneThatIsEndedKeepsWhatIsClearlySlower) {
  add(sweep_);
  for (const double us : {40, 20, 10}) run_for(us);
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  EXPECT_TRUE(lane_.end_early(last().id));
  EXPECT_TRUE(last().ended_early);
  ASSERT_TRUE(last().points[0].ended() && last().points[1].ended());
  EXPECT_EQ(stopped(0), Stopped::hopeless);
  EXPECT_EQ(stopped(1), Stopped::hopeless);
  EXPECT_FALSE(last().points[2].ended());
  EXPECT_FALSE(last().points[3].ended());
  // It goes on where it was: with a screening, because the time to beat is not known.
  sweep_.known = {last().points[0].observation, last().points[1].observation};
  add(sweep_);
  EXPECT_EQ(next_among().hopeless_us, Screening::kBriefly);
  EXPECT_EQ(run_for(10), 4);
}

TEST_F(Screened, GoesOnWhenAWorkerIsBack) {
  add_shared();
  run_for(40);
  run_for(10);
  EXPECT_FALSE(lane_.next([](const DeviceTable::Place&) { return PlaceNow{}; })) << "both start again";
  EXPECT_FALSE(last().points[0].ended());
  const auto step = lane_.next(look_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->experiment.config, sweep_.configs[2]);
  EXPECT_EQ(step->among.hopeless_us, Screening::kBriefly);
  for (const double us : {11, 5, 40}) run_for(us);
  EXPECT_EQ(run_for(5), 6) << "only the fastest one runs once more";
  EXPECT_TRUE(last().over());
}

TEST_F(Screened, WithoutAWorkerItKeepsWhatIsClearlySlower) {
  add_shared();
  run_for(40);
  run_for(10);
  EXPECT_FALSE(lane_.next([](const DeviceTable::Place&) { return PlaceNow{false, true, nullptr, {}, "gone"}; }));
  ASSERT_TRUE(last().failure);
  ASSERT_TRUE(last().points[0].ended());
  EXPECT_EQ(stopped(0), Stopped::hopeless);
  EXPECT_FALSE(last().points[1].ended());
}

// Configs with the same machine code and launch.
class ScreenedTwins : public Screened {
 protected:
  ScreenedTwins() {
    sweep_.configs.clear();
    for (const int64_t width : {1, 2, 4, 8}) sweep_.configs.push_back(with({{"VEC_WIDTH", width}}));
  }
  void run_twin(double us) { run_for(us, VerdictState::correct, "twin"); }
};

TEST_F(ScreenedTwins, BothAreSlowAndHaveOneTime) {
  add(sweep_);
  run_twin(40);
  run_twin(41);
  run_for(10);
  run_for(11);
  EXPECT_EQ(lane_.next()->experiment.config, sweep_.configs[2]);
  EXPECT_FALSE(last().points[0].same_as);
  EXPECT_EQ(last().points[1].same_as, 0u);
  EXPECT_EQ(last().timed(1)->timing->p50, 40);
}

TEST_F(ScreenedTwins, OneIsNearTheFastestSoBothAre) {
  add(sweep_);
  run_for(10);
  run_twin(13);
  run_twin(12);
  run_for(40);
  EXPECT_EQ(lane_.next()->experiment.config, sweep_.configs[0]);
  EXPECT_FALSE(last().points[1].ended()) << "its own brief run was a little slower";
  run_for(10);
  run_twin(11);
  run_twin(11);
  ASSERT_TRUE(last().over());
  EXPECT_EQ(stopped(1), Stopped::stable);
  EXPECT_EQ(last().points[2].same_as, 1u);
}

TEST_F(ScreenedTwins, AnEarlyStopOfOneDoesNotCountForTheOther) {
  add(sweep_);
  run_for(10);
  run_twin(11);
  run_twin(11);
  run_for(40);
  run_for(10);
  run_twin(13);
  EXPECT_EQ(stopped(1), Stopped::hopeless) << "another placement is slower";
  EXPECT_THAT(next_among().known_codes, Not(Contains("twin")));
  run_twin(11);
  ASSERT_TRUE(last().over());
  EXPECT_EQ(stopped(2), Stopped::stable);
  EXPECT_FALSE(last().points[2].same_as);
  EXPECT_EQ(last().points[1].same_as, 2u);
  EXPECT_EQ(last().timed(1)->timing->p50, 11);
  // The next batch of the same sweep knows both runs.
  for (const ScanPoint& point : last().points) sweep_.known.push_back(point.observation);
  sweep_.configs.push_back(with({{"NUM_WARPS", 8}}));
  add(sweep_);
  EXPECT_EQ(last().points[1].same_as, 2u);
}

TEST_F(Screened, NotWhereThereIsLittleToSave) {
  const auto first = [&](const ScanRequest& request) {
    lane_ = {};
    add(request);
    return next_among().hopeless_us.value_or(0);
  };
  EXPECT_EQ(first(sweep_), Screening::kBriefly);
  ScanRequest two = sweep_;
  two.configs.resize(2);
  EXPECT_EQ(first(two), 0);
  ScanRequest watched = sweep_;
  watched.discards = false;
  EXPECT_EQ(first(watched), 0);
  held_.measure.max_time_ms = Screening::kFromMs - 1;
  EXPECT_EQ(first(sweep_), 0);
  held_.measure.max_time_ms = 2000;
  spec_.emulated = true;
  EXPECT_EQ(first(sweep_), 0) << "a modelled time has no samples";
  spec_.emulated = false;
  first(sweep_);
  for (const double us : {40, 20, 10, 11, 40, 10, 11}) run_for(us);
  sweep_.known = {last().points[2].observation};
  EXPECT_DOUBLE_EQ(first(sweep_), ScanLane::kHopeless * 10.1) << "a time to beat is known";
}

TEST_F(Screened, ARunThatTakesAllItsTimeIsNotRepeated) {
  add(sweep_);
  for (const int64_t warps : {1, 2, 4, 6, 8}) {
    lane_.next();
    lane_.started(++job_);
    Timing timing;
    timing.kind = FigureKind::measured;
    timing.p50 = timing.interval_high = 3e6;
    timing.sampling = Sampling{};
    timing.sampling->rounds = {{3e6}};
    timing.sampling->stopped = Stopped::time_up;
    Verdict verdict;
    verdict.state = VerdictState::correct;
    lane_.take_part({job_, {std::optional(timing), std::optional(verdict)}});
    lane_.finish(job_, std::nullopt, "box", {});
    EXPECT_TRUE(last().points[0].ended()) << warps;
  }
  EXPECT_TRUE(last().over());
}

TEST_F(ScanLaneTest, OnlyAnEqualLaunchMakesEqualCodeKnown) {
  add({"VEC_WIDTH"});
  run("a", 5);
  EXPECT_THAT(next_among().known_codes, ElementsAre("a"));
  run("a", 0);
  EXPECT_EQ(last().points[1].same_as, 0u);
  EXPECT_EQ(last().timed(1)->timing->p50, 5);
  while (lane_.next()) run("b", 9);

  add({"NUM_WARPS"});
  run("a", 5);
  EXPECT_THAT(next_among().known_codes, IsEmpty()) << "another number of threads";
  run("a", 0);
  EXPECT_FALSE(last().points[1].same_as);
  EXPECT_EQ(last().points[1].observation->failure->stage, Stage::protocol) << "a run without a time is no run";
}

TEST_F(ScanLaneTest, WhatAnEarlierAttemptBroughtDoesNotCount) {
  add({"BLOCK_N"});
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  Timing timing;
  lane_.take_part({7, {std::optional(timing), std::optional(Verdict{})}});
  lane_.restart(7);
  lane_.finish(7, std::nullopt, "box", {});
  EXPECT_TRUE(last().points[0].observation->failure);
}

TEST_F(ScanLaneTest, IsKeptForItsOwnKnobsValuesAndEndsForOthers) {
  add({"NUM_WARPS"});
  run("a", 5);
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  Draft wanted = held_;
  wanted.config.knobs["NUM_WARPS"] = 8;
  EXPECT_FALSE(lane_.keep_for(wanted));
  EXPECT_TRUE(lane_.is(7));
  wanted.config.knobs["BLOCK_M"] = 16;
  EXPECT_TRUE(lane_.keep_for(wanted));
  EXPECT_FALSE(lane_.is(7));
  EXPECT_TRUE(lane_.view().empty());
}

TEST_F(ScanLaneTest, OneThatIsOverStaysAndAnotherGoesOn) {
  add({"BLOCK_N"});
  run("a", 5);
  run("b", 5);
  add({"NUM_WARPS"});
  add({"SWIZZLE_XOR"});
  ASSERT_TRUE(lane_.next());
  lane_.started(7);
  Draft wanted = held_;
  wanted.config.knobs["SWIZZLE_XOR"] = 1;
  EXPECT_TRUE(lane_.keep_for(wanted));
  ASSERT_EQ(lane_.view().size(), 2u);
  EXPECT_EQ(lane_.view()[0]->points[0].knob, "BLOCK_N");
  EXPECT_EQ(run("c", 5).config.knobs.at("SWIZZLE_XOR"), 0);
}

TEST_F(ScanLaneTest, TheSameScanReplacesItsResult) {
  add({"BLOCK_N"});
  run("a", 5);
  run("b", 5);
  add({"BLOCK_N"});
  EXPECT_EQ(lane_.view().size(), 1u);
  EXPECT_FALSE(last().over());
}

TEST_F(ScanLaneTest, AConfigOfSeveralKnobsIsOnePoint) {
  add_config({{"NUM_WARPS", 8}, {"SWIZZLE_XOR", 1}});
  ASSERT_EQ(last().points.size(), 1u);
  EXPECT_TRUE(last().of_config());
  const Experiment ran = run("a", 5);
  Config wanted = held_.config;
  wanted.knobs["NUM_WARPS"] = 8;
  wanted.knobs["SWIZZLE_XOR"] = 1;
  EXPECT_EQ(ran.config, wanted);
  EXPECT_EQ(last().timed(0)->timing->p50, 5);
  EXPECT_FALSE(lane_.next());
}

TEST_F(ScanLaneTest, AConfigThatCannotRunSaysWhyAndAKnownOneIsNotRepeated) {
  add_config({{"BLOCK_M", 64}});
  ASSERT_TRUE(last().points[0].refused);
  EXPECT_EQ(last().points[0].refused->stage, Stage::limits);
  add_config({{"NUM_WARPS", 5}});
  ASSERT_TRUE(last().points[0].refused);
  EXPECT_EQ(last().points[0].refused->stage, Stage::input);
  Experiment other = held_;
  other.config.knobs["NUM_WARPS"] = 8;
  auto seen = std::make_shared<Observation>();
  seen->hash = hash_of(other);
  add_config({{"NUM_WARPS", 8}}, {seen});
  EXPECT_EQ(last().points[0].observation, seen);
  EXPECT_FALSE(lane_.next());
}

TEST_F(ScanLaneTest, AConfigEndsWhenAnyOtherExperimentIsWanted) {
  add_config({{"NUM_WARPS", 8}});
  run("a", 5);
  add_config({{"SWIZZLE_XOR", 1}});
  EXPECT_FALSE(lane_.keep_for(held_));
  ASSERT_EQ(lane_.view().size(), 2u);
  Draft wanted = held_;
  wanted.config.knobs["SWIZZLE_XOR"] = 1;
  lane_.keep_for(wanted);
  ASSERT_EQ(lane_.view().size(), 1u) << "what is over stays";
  EXPECT_EQ(last().points[0].config.knobs.at("NUM_WARPS"), 8);
}

TEST_F(ScanLaneTest, ConfigsPushNoScanOfAKnobOut) {
  add({"BLOCK_N"});
  run("a", 5);
  run("b", 5);
  for (int problem = 1; problem <= 20; ++problem) {
    held_.problem.batch = problem;
    add_config({{"NUM_WARPS", 8}});
    run("a", 5);
  }
  ASSERT_EQ(lane_.view().size(), 1 + ScanLane::kMostKept);
  EXPECT_EQ(lane_.view()[0]->points[0].knob, "BLOCK_N");
  EXPECT_EQ(lane_.view()[1]->held.problem.batch, 5) << "the oldest are gone";
}

TEST(Scan, HoldsForDraftsThatDifferInThatKnob) {
  Scan scan;
  scan.held.config.knobs = {{"A", 1}, {"B", 2}};
  scan.points.push_back({"A", {1, ""}, true, scan.held.config, {}, {}, nullptr, {}});
  Draft draft = scan.held;
  EXPECT_TRUE(scan.holds("A", draft));
  draft.config.knobs["A"] = 7;
  EXPECT_TRUE(scan.holds("A", draft));
  EXPECT_TRUE(scan.holds(draft));
  EXPECT_FALSE(scan.holds("B", draft));
  draft.config.knobs["B"] = 7;
  EXPECT_FALSE(scan.holds("A", draft));
  EXPECT_FALSE(scan.holds(draft));
  draft = scan.held;
  draft.problem.seq_q += 1;
  EXPECT_FALSE(scan.holds("A", draft));
}

// Two workers share a scan of configs.
class SharedScanTest : public ScanLaneTest {
 protected:
  void share(const std::vector<Config>& configs, std::vector<Shared<Observation>> known = {}, bool by_nvcc = false) {
    ScanRequest request{.id = ++id_, .draft = held_, .knobs = {}};
    request.configs = configs;
    request.known = std::move(known);
    request.sharing = Sharing{{"a", "b"}, spec_, {}, by_nvcc};
    Resolution resolution;
    resolution.experiment = held_;
    resolution.kernel = kernel_;
    resolution.place = {0, held_.device, held_.device, &spec_};
    resolution.shared_places = {{1, "a", "emulated:l4", nullptr}, {2, "b", "emulated:l4", nullptr}};
    lane_.add(request, resolution);
  }
  // Starts the next job and returns its id.
  JobId start() {
    const auto step = lane_.next([&](const DeviceTable::Place&) { return PlaceNow{true, false, &spec_, {}, ""}; });
    EXPECT_TRUE(step);
    if (!step) return 0;
    among_ = step->among;
    lane_.started(++job_);
    return job_;
  }
  void end(JobId job, const std::string& code, double us) {
    VariantInfo variant;
    variant.code_hash = code;
    Timing timing;
    timing.p50 = us;
    lane_.take_part({job, {std::optional(variant), std::optional(timing), std::optional(Verdict{})}});
    lane_.finish(job, std::nullopt, "a", {});
  }
  protocol::Among among_;
};

TEST_F(SharedScanTest, AWorkerWithAnotherNvccTakesNoPartIfNvccCompiles) {
  const auto runs = [&] {
    const auto step = lane_.next([&](const DeviceTable::Place& place) {
      Versions versions;
      if (place.worker == 2) versions.nvcc = "13.0.88";
      return PlaceNow{true, false, &spec_, versions, ""};
    });
    if (step) lane_.started(++job_);
    return step.has_value();
  };
  share({with({{"NUM_WARPS", 2}}), with({{"NUM_WARPS", 8}})}, {}, true);
  EXPECT_TRUE(runs());
  EXPECT_FALSE(runs());
}

TEST_F(SharedScanTest, TwoRunAtOnceAndEachPartIsItsJobs) {
  share({with({{"NUM_WARPS", 2}}), with({{"NUM_WARPS", 8}})});
  const JobId first = start(), second = start();
  EXPECT_FALSE(lane_.next());
  end(second, "b", 8);
  EXPECT_TRUE(lane_.is(first));
  EXPECT_FALSE(lane_.is(second));
  end(first, "a", 2);
  EXPECT_EQ(last().points[0].observation->timing->p50, 2);
  EXPECT_EQ(last().points[1].observation->timing->p50, 8);
  EXPECT_EQ(last().points[1].observation->experiment.device, "box/emulated:l4") << "not the worker's";
}

// Whichever worker ends first, the result is the one worker's.
TEST_F(SharedScanTest, OfEqualMachineCodeTimedTwiceTheFirstPointsTimeCounts) {
  const std::vector<Config> vectors{with({{"VEC_WIDTH", 1}}), with({{"VEC_WIDTH", 4}}), with({{"VEC_WIDTH", 8}})};
  share(vectors);
  const JobId first = start(), second = start();
  end(second, "same", 8);
  start();
  EXPECT_THAT(among_.known_codes, ElementsAre("same"));
  end(job_, "same", 9);
  EXPECT_EQ(last().points[2].same_as, 1u);
  end(first, "same", 7);
  EXPECT_FALSE(last().points[0].same_as);
  for (size_t at = 0; at < 3; ++at) EXPECT_EQ(last().timed(at)->timing->p50, 7) << at;
  EXPECT_EQ(last().points[2].same_as, 0u);
  // The same holds if the runs are known when the scan starts.
  std::vector<Shared<Observation>> known;
  for (const ScanPoint& point : last().points) known.push_back(point.observation);
  share(vectors, known);
  EXPECT_TRUE(last().over());
  for (size_t at = 0; at < 3; ++at) EXPECT_EQ(last().timed(at)->timing->p50, 7) << at;
}

TEST_F(SharedScanTest, ALaterPointsCodeIsNotKnownToAnEarlierOne) {
  share({with({{"VEC_WIDTH", 1}}), with({{"VEC_WIDTH", 4}})});
  start();
  const JobId second = start();
  end(second, "same", 8);
  ASSERT_TRUE(lane_.worker_went(1, "a", "killed"));
  start();
  EXPECT_THAT(among_.known_codes, IsEmpty());
}

TEST_F(SharedScanTest, AConfigIsGivenBackOnceAndThenItFails) {
  share({with({{"NUM_WARPS", 2}}), with({{"NUM_WARPS", 8}})});
  const JobId first = start();
  EXPECT_FALSE(lane_.worker_went(2, "b", "killed")) << "it had none";
  Timing timing;
  lane_.take_part({first, {std::optional(timing)}});
  EXPECT_TRUE(lane_.worker_went(1, "a", "killed"));
  EXPECT_FALSE(lane_.is(first));
  EXPECT_FALSE(last().points[0].ended());
  const JobId other = start(), again = start();
  end(other, "b", 8);
  EXPECT_TRUE(lane_.worker_went(2, "b", "closed its output"));
  EXPECT_FALSE(lane_.is(again));
  ASSERT_TRUE(last().over());
  ASSERT_TRUE(last().points[0].observation);
  const Observation& lost = *last().points[0].observation;
  ASSERT_TRUE(lost.failure);
  EXPECT_EQ(lost.failure->stage, Stage::crash);
  EXPECT_EQ(lost.failure->message,
            "twice a worker went away while it had this config: a: killed; b: closed its output");
  EXPECT_FALSE(lost.timing) << "what the first attempt brought";
  EXPECT_EQ(last().points[1].observation->timing->p50, 8);
}

TEST_F(SharedScanTest, WhatADeviceRefusesIsTriedOnAnother) {
  share({with({{"NUM_WARPS", 2}})});
  lane_.finish(start(), Failure{Stage::device, "the GPU is lost", ""}, "a", {});
  EXPECT_FALSE(last().points[0].ended());
  lane_.finish(start(), Failure{Stage::device, "it does not fit", ""}, "b", {});
  ASSERT_TRUE(last().over());
  EXPECT_EQ(last().points[0].observation->failure->message, "it does not fit");
}

TEST_F(SharedScanTest, WithoutAWorkerItFailsAndSaysWhy) {
  share({with({{"NUM_WARPS", 2}})});
  EXPECT_FALSE(lane_.next([&](const DeviceTable::Place&) { return PlaceNow{}; }));
  EXPECT_FALSE(last().over()) << "they may come";
  EXPECT_FALSE(lane_.next([&](const DeviceTable::Place&) { return PlaceNow{false, true, nullptr, {}, "gone"}; }));
  ASSERT_TRUE(last().failure);
  EXPECT_EQ(last().failure->message, "no worker is left: a: gone; b: gone");
}

}  // namespace
}  // namespace attnscope::session
