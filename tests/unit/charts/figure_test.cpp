#include "charts/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/json.h"

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

LatencyChart three_runs() {
  std::vector<Run> runs;
  for (const double us : {100.0, 0.0, 25.5}) {
    Observation one;
    one.experiment.kernel = "tiled";
    if (us > 0) {
      Timing& timing = one.timing.emplace();
      timing.p50 = us;
      timing.p10 = us * 0.9;
      timing.p90 = us * 1.2;
      timing.kind = us > 50 ? FigureKind::modelled : FigureKind::measured;
    } else {
      one.failure = Failure{Stage::limits, "too large", ""};
    }
    runs.push_back({runs.size() + 1, std::make_shared<Observation>(std::move(one)), "W 4 \u2192 8, fast", "W=8"});
  }
  LatencyChart chart;
  append(chart, runs);
  return chart;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Figure, RunsKeepTheirTimesAndKinds) {
  const Figure figure = figure_of(three_runs(), AxisChoice::linear, 1, 3);
  ASSERT_THAT(figure.points, SizeIs(2)) << "a run without a time is no point";
  EXPECT_DOUBLE_EQ(figure.points[1].y, 25.5);
  EXPECT_EQ(figure.points[1].kind, FigureKind::measured);
  ASSERT_THAT(figure.sheet.rows, SizeIs(3)) << "but it is a row";
  const std::string csv = csv_of(figure.sheet);
  EXPECT_THAT(csv, HasSubstr("run,change,kernel,config,problem,device,us,"));
  EXPECT_THAT(csv, HasSubstr("\"W 4 \u2192 8, fast\",tiled,W=8,"));
  EXPECT_THAT(csv, HasSubstr(",25.5,"));
  const Json json = Json::parse(json_of(figure.sheet));
  ASSERT_THAT(json, SizeIs(3));
  EXPECT_EQ(json[0]["us"], 100.0);
  EXPECT_TRUE(json[1]["us"].is_null());
  EXPECT_EQ(json[1]["failed_at"], "limits");
}

TEST(Figure, APictureShowsEveryPointWithTheMarkOfItsKind) {
  const std::string svg = svg_of(figure_of(three_runs(), AxisChoice::logarithmic, 1, 3));
  EXPECT_EQ(count_of(svg, "<circle"), 2u) << "the measured run, and the legend's";
  EXPECT_EQ(count_of(svg, "l6 6 l-6 6 l-6 -6 z"), 2u) << "the modelled run, and the legend's";
  EXPECT_THAT(svg, HasSubstr("cy=\"24.0\"")) << "the legend's mark is level with its word";
  EXPECT_THAT(svg, HasSubstr(">measured</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">reported</text>")));
  EXPECT_THAT(svg, HasSubstr("3 B</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

// A smaller time is lower on the page, which counts from the top, on both axes.
TEST(Figure, PointsStandInTheOrderOfTheirTimes) {
  for (const AxisChoice choice : {AxisChoice::linear, AxisChoice::logarithmic}) {
    const std::string svg = svg_of(figure_of(three_runs(), choice, 0, 0));
    const auto below_legend = [&](const std::string& mark) { return svg.rfind(mark); };
    const std::string disc = "cy=\"", diamond = "<path d=\"M";
    const double low = std::stod(svg.substr(svg.find(disc, below_legend("<circle")) + disc.size()));
    const size_t at = svg.rfind(diamond, svg.rfind("l6 6 l-6 6")) + diamond.size();
    const double high = std::stod(svg.substr(svg.find(' ', at)));
    EXPECT_GT(low, high);
  }
}

TEST(Figure, AScanShowsWhatWasRefusedOnlyInItsTable) {
  ScanSeries series;
  series.knob = "WARPS";
  series.rows.resize(2);
  series.rows[0].text = "4";
  series.rows[0].state = ScanState::timed;
  series.rows[0].us = 12.0;
  series.rows[0].best = true;
  series.rows[1].text = "8";
  series.rows[1].state = ScanState::refused;
  series.rows[1].reason = "does not fit";
  series.most = 12;
  const Figure figure = figure_of(series, "tiled");
  EXPECT_THAT(figure.points, SizeIs(1));
  EXPECT_EQ(figure.points[0].label, "fastest");
  EXPECT_EQ(csv_of(figure.sheet),
            "WARPS,state,us,kind,verdict,reason,warning,same_as,best\n"
            "4,timed,12,modelled,,,,,best\n"
            "8,refused,,,,does not fit,,,\n");
}

TEST(Figure, TermsStandInPairsAgainstA) {
  TermTable table;
  table.rows = {{TermKind::issue, 10, 4}, {TermKind::tail, 1, 2}};
  EXPECT_THAT(figure_of(table).bars, SizeIs(2));
  table.against = true;
  const Figure figure = figure_of(table);
  EXPECT_THAT(figure.bars, SizeIs(4));
  EXPECT_LT(figure.bars[0].row, figure.bars[1].row);
  EXPECT_DOUBLE_EQ(figure.bars[0].to, 10);
  EXPECT_THAT(figure.sheet.columns, ElementsAre("term", "a_us", "b_us", "difference_us"));
  EXPECT_EQ(count_of(svg_of(figure), "<rect"), 5u) << "the ground and four bars";
}

TEST(Figure, EveryCtaOfAnSmIsARow) {
  MemoryStack stack;
  stack.segments = {{"tile", 0, 4096, false, false}, {"rows", 4096, 5120, true, false}};
  stack.total_bytes = 5120;
  stack.ctas = 3;
  stack.scale_bytes = 20000;
  stack.marks = {{LimitKind::static_block, 49152, "48 KB static", ""}};
  const Figure figure = figure_of(stack);
  EXPECT_THAT(figure.bars, SizeIs(6));
  EXPECT_DOUBLE_EQ(figure.bars[2].from, 5120);
  EXPECT_EQ(csv_of(figure.sheet),
            "buffer,begin,end,bytes,part\ntile,0,4096,4096,static\nrows,4096,5120,1024,dynamic\n");
}

TEST(Sheet, CellsAreWrittenAsWhatTheyAre) {
  const Sheet sheet{{"a", "b,c", "d"},
                    {{std::string("x\"y"), 1.0 / 3, int64_t{1} << 53},
                     {Cell(), std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}}};
  EXPECT_EQ(csv_of(sheet), "a,\"b,c\",d\n\"x\"\"y\",0.333333,9007199254740992\n,,\n");
  const Json json = Json::parse(json_of(sheet));
  EXPECT_EQ(json[0]["b,c"], 1.0 / 3);
  EXPECT_EQ(json[0]["d"], int64_t{1} << 53);
  EXPECT_TRUE(json[1]["b,c"].is_null());
}

TEST(Sheet, ARunHasACellForEveryColumn) {
  Observation run;
  EXPECT_EQ(run_cells(run, 0).size(), run_columns().size());
  EXPECT_EQ(csv_line(run_cells(run, -1)).substr(0, 2), "?,");
  run.timing.emplace().p50 = 12.5;
  EXPECT_EQ(std::get<double>(run_cells(run, 0)[6]), 12.5);
  EXPECT_EQ(run_columns()[6], "us");
}

TEST(Figure, CellsOfOneColourAreOnePath) {
  Figure figure;
  figure.raster = {3, 2, {0xff0000, 0xff0000, 0x00ff00, 0x00ff00, 0xff0000, 0x00000a}};
  const std::string svg = svg_of(figure);
  EXPECT_NE(svg.find("<path fill=\"#ff0000\" d=\"M0 0h2v1H0zM1 1h1v1H1z\"/>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<path fill=\"#00ff00\" d=\"M2 0h1v1H2zM0 1h1v1H0z\"/>"), std::string::npos);
  EXPECT_NE(svg.find("<path fill=\"#00000a\" d=\"M2 1h1v1H2z\"/>"), std::string::npos);
  figure.raster.colours.pop_back();
  EXPECT_EQ(svg_of(figure).find("crispEdges"), std::string::npos) << "a cell is missing";
}

}  // namespace
}  // namespace attnscope::charts
