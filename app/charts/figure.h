#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "charts/latency_axis.h"
#include "charts/memory_stack.h"
#include "charts/roofline.h"
#include "charts/scan_rows.h"
#include "charts/sheet.h"
#include "charts/term_table.h"

namespace attnscope::charts {

// A plot as plain data, for export: what is drawn, and the figures behind it.
struct FigureAxis {
  std::string title;
  double low = 0, high = 1;
  bool log = false;
  std::vector<std::pair<double, std::string>> marks;
};
struct FigurePoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  // on the y axis; equal: it has no bar
  FigureKind kind = FigureKind::modelled;
  bool fault = false;
  std::string label;
};
struct FigureLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool dashed = false;
};
struct FigureBar {
  double row = 0;           // its centre on the y axis; its height is 0.7
  double from = 0, to = 0;  // on the x axis
  std::string label;
  size_t colour = 0;  // bars with equal numbers have the same colour
};
// Cells that fill the whole plot, row by row from the top, 0xRRGGBB each.
struct FigureRaster {
  size_t width = 0, height = 0;
  std::vector<uint32_t> colours{};  // width * height
};
struct Figure {
  std::string title{};
  std::string note{};  // a line below the title
  FigureAxis x{}, y{};
  FigureRaster raster{};
  std::vector<FigureLine> lines{};
  std::vector<FigureBar> bars{};
  std::vector<FigurePoint> points{};
  Sheet sheet{};
};

// Every run in order. `a` and `b` are the runs of the baseline and of the shown observation; 0: none.
Figure figure_of(const LatencyChart& chart, AxisChoice choice, uint64_t a, uint64_t b);
// Every value of a scanned knob.
Figure figure_of(const ScanSeries& series, const std::string& note);
Figure figure_of(const Roofline& roofline, const std::string& device);
// The buffers of the CTAs on one SM.
Figure figure_of(const MemoryStack& stack);
// The terms of a modelled time beside A's.
Figure figure_of(const TermTable& table);

// The figure as an SVG picture of 960 by 540, for a light background.
std::string svg_of(const Figure& figure);

}  // namespace attnscope::charts
