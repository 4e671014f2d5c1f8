// The picture of a report: where its marks, bars and texts stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fake_bench.h"

namespace attnscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// Every place where that text stands in the picture, from the left.
std::vector<double> places_of(const std::string& svg, const std::string& text) {
  std::vector<double> places;
  const std::string begin = "<text x=\"", end = ">" + text + "</text>";
  for (size_t at = svg.find(end); at != std::string::npos; at = svg.find(end, at + 1))
    places.push_back(std::stod(svg.substr(svg.rfind(begin, at) + begin.size())));
  return places;
}

TEST(Picture, ThePicturesAxisIsLogarithmicAndSaysItsTimes) {
  FakeDevice device({10, 90});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const std::string svg = as_svg(report_of(plan, state, "d"));
  std::vector<double> at;
  for (const char* time : {"10", "20", "50"}) {
    const std::vector<double> places = places_of(svg, time);
    ASSERT_EQ(places.size(), 1u) << time << " in " << svg;
    at.push_back(places[0]);
  }
  EXPECT_TRUE(places_of(svg, "60").empty());
  EXPECT_NEAR((at[1] - at[0]) / std::log10(2.0), (at[2] - at[0]) / std::log10(5.0), 1);
  const std::string dot = "<circle cx=\"";
  EXPECT_NEAR(std::stod(svg.substr(svg.find(dot) + dot.size())), at[0], 1) << "the dot of 10 us";
}

// Returns the number after `name` in the first element of the picture that has `mark`, searching from `from`.
double number_in(const std::string& svg, const std::string& mark, const std::string& name, size_t from = 0) {
  const size_t at = svg.find(mark, from), number = svg.find(name + "=\"", at);
  return at == std::string::npos || number == std::string::npos ? NAN : std::stod(svg.substr(number + name.size() + 2));
}

TEST(Picture, APicturesLinesStandBelowEachOtherAndItsPanelsToo) {
  FakeDevice device({10, 40, 20});
  device.drift = 0;
  device.refuses[1] = Failure{Stage::input, "it has no such dtype", ""};
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"second", false}, {"peer", true}}, 2);
  BenchState state;
  run_bench(plan, device.calls(), state);
  BenchReport report = report_of(plan, state, "2026-11-21");
  for (Row& row : report.rows) {
    row.cells[0].p10 = 8;
    row.cells[0].p90 = 16;
  }
  const std::string svg = as_svg(report);
  const auto label_y = [&](const std::string& label, size_t from) {
    const size_t end = svg.find(">" + label + "</text>", from);
    return number_in(svg, "<text", "y", svg.rfind("<text", end));
  };
  const size_t second = svg.find(">B2 ");
  ASSERT_NE(second, std::string::npos);
  for (const size_t from : {size_t{0}, second}) {
    const double ours = label_y("ours", from), next = label_y("second", from), peer = label_y("peer", from);
    EXPECT_GT(next, ours + 13) << "a line's text is 13 high";
    EXPECT_NEAR(peer - next, next - ours, 0.2);
    const double dot = number_in(svg, "<circle", "cy", from);
    EXPECT_NEAR(dot, ours - 4, 0.2) << "the mark stands in the middle of its line's text";
    const size_t bar = svg.rfind("<rect", svg.find("height=\"8\"", from));
    EXPECT_NEAR(number_in(svg, "<rect", "y", bar), dot - 4, 0.2);
  }
  EXPECT_GT(label_y("ours", second), label_y("peer", 0) + 46) << "a panel has a head";
  // 8 to 16 us is a bar with 10 us inside it: its distance from the left end is the one that the logarithm gives.
  const size_t bar = svg.find("height=\"8\"");
  const double left = number_in(svg, "<rect", "x", svg.rfind("<rect", bar)), dot = number_in(svg, "<circle", "cx");
  const double width = number_in(svg, "<rect", "width", svg.rfind("<rect", bar));
  EXPECT_NEAR((dot - left) / width, std::log2(10.0 / 8), 0.01);
  EXPECT_GE(left, 190) << "right of the labels";
  EXPECT_LE(left + width, 660) << "left of the times";
  EXPECT_EQ(places_of(svg, "us").size(), 2u) << "each axis has its unit";
  EXPECT_THAT(svg, HasSubstr("it has no such dtype</text>"));
  const double height = number_in(svg, "<svg", "height");
  EXPECT_GT(height, label_y("peer", second) + 34);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 960 "));
  EXPECT_THAT(svg, HasSubstr("fill=\"#b45f06\"")) << "a peer is orange";
}

// A row in which nothing could run has a panel with its reasons, and all numbers of the picture are finite.
TEST(Picture, ARowWithoutATimeHasAPanelToo) {
  BenchReport report = plan_of(false, {{"ours", false}, {"peer", true}}).head;
  for (Cell& cell : report.rows[0].cells) cell.reason = "no such dtype";
  const std::string svg = as_svg(report);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf\"")));
  EXPECT_THAT(svg, HasSubstr("not applicable: no such dtype</text>"));
  EXPECT_EQ(places_of(svg, "1").size(), 1u) << "an axis around 1 us";
  EXPECT_TRUE(places_of(svg, "10").empty());
}

// 110 letters have room; a longer reason is cut at a word, and the tooltip has all of it.
TEST(Picture, ALongReasonIsCutAtAWord) {
  const std::string state = "not applicable: ";
  const auto shown = [&](const std::string& reason) {
    BenchReport report = plan_of(false, {{"ours", false}}).head;
    report.rows[0].cells[0].reason = reason;
    const std::string svg = as_svg(report);
    EXPECT_THAT(svg, HasSubstr(reason + "</title>"));
    const size_t at = svg.find(">" + state);
    return at == std::string::npos ? "" : svg.substr(at + 1, svg.find('<', at) - at - 1);
  };
  const std::string fits(110 - state.size(), 'x');
  EXPECT_EQ(shown(fits), state + fits);
  const std::string half(80 - state.size(), 'y');
  EXPECT_EQ(shown(half + " " + std::string(30, 'z')), state + half + " ...");
  EXPECT_EQ(shown(half + " " + std::string(29, 'z') + " w"), state + half + " " + std::string(29, 'z') + " ...");
}

}  // namespace
}  // namespace attnscope::report
