// The plots of a sweep's trials: how they look, what a brush leaves, what the tooltip says.
#include <cmath>

#include "ui/look.h"
#include "ui/panels/trial_plots.h"

namespace attnscope::ui {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr double kNone = NAN;

std::string as_count(double value) { return std::to_string(static_cast<int64_t>(value)); }

sweep::TrialColumn column(const char* name, std::vector<double> values, std::vector<std::string> labels = {}) {
  sweep::TrialColumn made;
  made.name = name;
  if (labels.empty()) made.words = as_count;
  made.labels = std::move(labels);
  made.least = made.labels.empty() ? INFINITY : 0;
  made.most = made.labels.empty() ? -INFINITY : static_cast<double>(made.labels.size() - 1);
  for (const double value : values)
    if (made.labels.empty() && std::isfinite(value)) {
      made.least = std::min(made.least, value);
      made.most = std::max(made.most, value);
    }
  made.values = std::move(values);
  return made;
}

// Six trials over two knobs: two that tie, two slower ones, one that is wrong and one that does not fit.
sweep::Trials six_trials() {
  sweep::Trials trials;
  const double us[] = {10, 10.5, 20, 95, 12, kNone};
  for (size_t at = 0; at < 6; ++at) {
    sweep::Trial trial;
    trial.point = at;
    trial.text = "TILE=" + std::to_string(at);
    trial.rank = at < 2 ? 1 : at < 4 ? at + 1 : 0;
    trial.tie = at < 2;
    if (std::isfinite(us[at])) trial.us = us[at];
    trial.kind = at == 2 ? FigureKind::measured : FigureKind::modelled;
    trial.verdict = at < 4 ? "correct" : at == 4 ? "wrong" : "refused";
    trials.rows.push_back(trial);
  }
  trials.rows[4].reason = "3 elements differ";
  trials.rows[5].hint = "Use a smaller tile.";
  trials.rows[3].same_as = "TILE=9";
  trials.columns = {column("TILE", {2, 1, 0, 1, 2, 0}, {"16", "32", "64"}),
                    column("WARPS", {0, 1, 1, 0, 0, 1}, {"4", "8"}), column("time", {10, 10.5, 20, 95, 12, kNone}),
                    column("registers", {40, 48, 64, 64, 255, kNone})};
  return trials;
}

BrushedTrials brushed_trials() {
  BrushedTrials trials;
  trials.follow(1, session::share(six_trials()));
  return trials;
}

TEST_F(Look, OfTrialPlots) {
  Drawing plots;
  const auto add = [&](const std::string& name, BrushedTrials trials) {
    ScatterPlot scatter;
    ParallelPlot parallel;
    plots["scatter, " + name] = drawn_in({600, 400}, [&] { scatter.draw(trials); }).at("test");
    plots["parallel, " + name] = drawn_in({600, 400}, [&] { parallel.draw(trials); }).at("test");
    plots["narrow, " + name] = drawn_in({220, 120}, [&] { parallel.draw(trials); }).at("test");
  };
  add("all", brushed_trials());
  BrushedTrials part = brushed_trials();
  part.brush(0, 0.6, 2.4);
  part.brush(2, 9, 30);
  add("brushed", part);
  sweep::Trials many = six_trials();
  for (size_t at = 6; at < 4100; ++at) {
    many.rows.push_back(many.rows[at % 6]);
    for (sweep::TrialColumn& one : many.columns) one.values.push_back(one.values[at % 6]);
  }
  BrushedTrials all;
  all.follow(1, session::share(std::move(many)));
  add("many", all);
  expect_as_recorded("trial_plots", plots);
}

TEST(BrushedTrials, AKnobsBrushGoesToWholePositions) {
  BrushedTrials trials = brushed_trials();
  EXPECT_EQ(trials.rows().size(), 6u);
  trials.brush(0, 2.4, 0.6);  // in either direction
  ASSERT_NE(trials.brush_of(0), nullptr);
  EXPECT_EQ(trials.brush_of(0)->low, 1);
  EXPECT_EQ(trials.brush_of(0)->high, 2);
  EXPECT_THAT(trials.rows(), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(trials.drawn(), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(trials.drawn_faintly(), ElementsAre(2, 5));
  trials.brush(0, 0.9, 0.6);  // between two positions: the nearer one
  EXPECT_EQ(trials.brush_of(0)->low, 1);
  EXPECT_EQ(trials.brush_of(0)->high, 1);
  EXPECT_EQ(trials.brushes().size(), 1u) << "an axis has one brush";
  EXPECT_EQ(trials.brush_of(1), nullptr);
}

TEST(BrushedTrials, ANarrowBrushDrawsAllThatItKeeps) {
  constexpr size_t kRows = 10 * kMostDrawn;
  sweep::Trials many = six_trials();
  many.rows.resize(kRows, many.rows.front());
  for (sweep::TrialColumn& one : many.columns) one.values.resize(kRows, one.values.front());
  std::vector<double>& knob = many.columns.front().values;
  for (size_t row = 0; row < kRows; ++row) knob[row] = row % 20 == 7 ? 1 : 0;
  BrushedTrials trials;
  trials.follow(1, session::share(std::move(many)));
  EXPECT_EQ(trials.drawn().size(), kMostDrawn);
  EXPECT_THAT(trials.drawn_faintly(), testing::IsEmpty());
  trials.brush(0, 1, 1);
  EXPECT_EQ(trials.drawn(), trials.rows()) << "2,000, of which each tenth would be 200";
  EXPECT_EQ(trials.drawn().front(), 7u);
  EXPECT_GT(trials.drawn_faintly().size(), kMostDrawn / 3);
  EXPECT_LE(trials.drawn_faintly().size(), kMostDrawn - trials.drawn().size());
}

TEST(BrushedTrials, AFiguresBrushIsAsDrawnAndLeavesOutWhatHasNone) {
  BrushedTrials trials = brushed_trials();
  trials.brush(2, 10.25, 95);
  EXPECT_EQ(trials.brush_of(2)->low, 10.25);
  EXPECT_THAT(trials.rows(), ElementsAre(1, 2, 3, 4));
  trials.brush(0, 0, 1);
  EXPECT_THAT(trials.rows(), ElementsAre(1, 2, 3));
  trials.clear(2);
  EXPECT_THAT(trials.rows(), ElementsAre(1, 2, 3, 5));
  trials.clear();
  EXPECT_EQ(trials.rows().size(), 6u);
}

TEST(BrushedTrials, BrushesStayWithTheirSweep) {
  BrushedTrials trials = brushed_trials();
  trials.brush(0, 0, 0);
  sweep::Trials more = six_trials();
  more.rows.push_back(more.rows.front());
  for (sweep::TrialColumn& one : more.columns) one.values.push_back(one.values.front());
  trials.follow(1, session::share(std::move(more)));
  EXPECT_EQ(trials.all().rows.size(), 7u);
  EXPECT_THAT(trials.rows(), ElementsAre(2, 5)) << "the same sweep went on";
  trials.follow(2, session::share(six_trials()));
  EXPECT_TRUE(trials.brushes().empty());
  trials.brush(0, 0, 0);
  sweep::Trials fewer = six_trials();
  fewer.columns.pop_back();
  trials.follow(2, session::share(std::move(fewer)));
  EXPECT_TRUE(trials.brushes().empty()) << "a brush names a column by its place";
}

// What leaves as SVG, CSV or JSON is what the brushes keep, with the axes that are drawn.
TEST(TrialFigures, AScatterPlotLeavesWithItsAxes) {
  BrushedTrials trials = brushed_trials();
  ScatterPlot scatter;
  drawn_in({600, 400}, [&] { scatter.draw(trials); });
  const charts::Figure all = scatter.figure(trials);
  EXPECT_EQ(all.title, "time against TILE");
  EXPECT_EQ(all.note, "6 of 6 trials");
  EXPECT_THAT(all.x.marks, ElementsAre(Pair(0, "16"), Pair(1, "32"), Pair(2, "64"))) << "a knob's values";
  EXPECT_EQ(all.x.low, -0.5);
  EXPECT_EQ(all.x.high, 2.5);
  ASSERT_EQ(all.y.marks.size(), 5u);
  EXPECT_THAT(all.y.marks.front(), Pair(10, "10"));
  EXPECT_THAT(all.y.marks.back(), Pair(95, "95"));
  ASSERT_EQ(all.points.size(), 5u) << "one trial has no time";
  EXPECT_EQ(all.points[2].kind, FigureKind::measured);
  for (size_t at = 0; at < 5; ++at) {
    EXPECT_EQ(all.points[at].fault, at == 4) << at;
    EXPECT_EQ(all.points[at].label, "") << "two trials tie";
  }
  EXPECT_EQ(all.sheet.rows.size(), 6u);
  trials.brush(0, 1, 1);
  const charts::Figure part = scatter.figure(trials);
  EXPECT_EQ(part.note, "2 of 6 trials");
  EXPECT_EQ(part.points.size(), 2u);
  EXPECT_EQ(part.sheet.rows.size(), 2u);
}

TEST(TrialFigures, AParallelPlotLeavesWithALineForEachTrial) {
  BrushedTrials trials = brushed_trials();
  const charts::Figure made = ParallelPlot::figure(trials);
  EXPECT_THAT(made.x.marks, ElementsAre(Pair(0, "TILE"), Pair(1, "WARPS"), Pair(2, "time"), Pair(3, "registers")));
  ASSERT_EQ(made.lines.size(), 6u);
  EXPECT_THAT(made.lines[0].points, ElementsAre(Pair(0, 1), Pair(1, 0), Pair(2, 0), Pair(3, 0)));
  for (size_t at = 0; at < 6; ++at) EXPECT_EQ(made.lines[at].dashed, at > 3) << "wrong or refused: " << at;
  EXPECT_EQ(made.lines[5].points.size(), 2u) << "it did not run, so that it has only knobs";
}

TEST(TrialWords, SayTimeVerdictAndWhy) {
  const sweep::Trials trials = six_trials();
  const std::string click = "\nClick to make it the current experiment.";
  EXPECT_EQ(words_of(trials, 0),
            "TILE=0\n10.00 \u00b5s modelled, cannot be told apart from the fastest\ncorrect" + click);
  EXPECT_EQ(words_of(trials, 2), "TILE=2\n20.00 \u00b5s measured\ncorrect" + click);
  EXPECT_EQ(words_of(trials, 3),
            "TILE=3\n95.00 \u00b5s modelled\ncorrect\nThe same machine code as TILE=9, which was timed." + click);
  EXPECT_EQ(words_of(trials, 4), "TILE=4\n12.00 \u00b5s modelled\nwrong: 3 elements differ" + click);
  EXPECT_EQ(words_of(trials, 5), "TILE=5\nrefused\nUse a smaller tile." + click);
  sweep::Trials alone = six_trials();
  alone.rows[0].tie = false;
  EXPECT_EQ(words_of(alone, 0), "TILE=0\n10.00 \u00b5s modelled, the fastest\ncorrect" + click);
}

}  // namespace
}  // namespace attnscope::ui
