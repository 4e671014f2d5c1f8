// Writes a figure as SVG. As in the window, marks show the kind of their figure: measured a disc, counted a square,
// modelled a hollow diamond, reported a dash.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "charts/figure.h"
#include "core/escape.h"

namespace attnscope::charts {
namespace {

constexpr double kWidth = 960, kHeight = 540, kRight = 24, kTop = 66, kBottom = 58;
constexpr double kLetter = 7;  // approximate width of a letter at the size of the marks' text
constexpr const char* kInk = "#141a21";
constexpr const char* kDim = "#4c5967";
constexpr const char* kGrid = "#d9e0e7";
constexpr const char* kBad = "#b03500";
// The colours of the window's light theme; neighbours also differ in lightness.
constexpr const char* kBars[] = {"#2f7fb8", "#e6a23c", "#2f9e80", "#c078ac",
                                 "#7cc0e4", "#be5622", "#d9c94e", "#8a96a2"};

const char* colour_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::measured:
      return "#00689f";
    case FigureKind::counted:
      return "#006f52";
    case FigureKind::modelled:
      return "#925200";
    case FigureKind::reported:
      return "#8f4576";
  }
  return kInk;
}

std::string words_at(double x, double y, const std::string& words, const char* colour, const char* anchor,
                     const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, colour,
                     anchor, more, xml_text(words));
}

std::string stroke(double x1, double y1, double x2, double y2, const char* colour, const char* more) {
  return fmt::format("<path d=\"M{:.1f} {:.1f} L{:.1f} {:.1f}\" stroke=\"{}\" fill=\"none\"{}/>\n", x1, y1, x2, y2,
                     colour, more);
}

// The pixel position of an axis value, between `from` and `to`.
double place(const FigureAxis& axis, double value, double from, double to) {
  const auto at = [&](double v) { return axis.log ? std::log10(std::max(v, 1e-12)) : v; };
  const double span = at(axis.high) - at(axis.low);
  return span == 0 ? from : from + (at(value) - at(axis.low)) / span * (to - from);
}

class Page {
 public:
  explicit Page(const Figure& figure) : figure_(figure) {
    size_t longest = 4;
    for (const auto& [at, words] : figure.y.marks) longest = std::max(longest, words.size());
    left_ = std::min(34 + static_cast<double>(longest) * kLetter, kWidth / 3);
  }
  double x(double value) const { return place(figure_.x, value, left_, kWidth - kRight); }
  double y(double value) const { return place(figure_.y, value, kHeight - kBottom, kTop); }
  double left() const { return left_; }

 private:
  const Figure& figure_;
  double left_ = 80;
};

std::string axes_of(const Figure& figure, const Page& page) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  std::string out;
  for (const auto& [at, words] : figure.x.marks) {
    out += stroke(page.x(at), bottom, page.x(at), bottom + 5, kDim, "");
    out += words_at(page.x(at), bottom + 20, words, kDim, "middle");
  }
  for (const auto& [at, words] : figure.y.marks) {
    out += stroke(page.left(), page.y(at), right, page.y(at), kGrid, "");
    out += words_at(page.left() - 8, page.y(at) + 4, words, kDim, "end");
  }
  out += stroke(page.left(), bottom, right, bottom, kDim, "");
  out += words_at((page.left() + right) / 2, kHeight - 14, figure.x.title, kInk, "middle");
  out += words_at(page.left() - 8, kTop - 10, figure.y.title, kInk, "end");
  return out;
}

// One path for each colour; adjacent cells are one piece of it.
std::string raster_of(const FigureRaster& raster, double left) {
  if (raster.width == 0 || raster.colours.size() < raster.width * raster.height) return {};
  std::map<uint32_t, std::string> paths;
  for (size_t y = 0; y < raster.height; ++y)
    for (size_t x = 0, end = 0; x < raster.width; x = end) {
      const uint32_t* const row = raster.colours.data() + y * raster.width;
      for (end = x; end < raster.width && row[end] == row[x];) ++end;
      paths[row[x]] += fmt::format("M{} {}h{}v1H{}z", x, y, end - x, x);
    }
  std::string out =
      fmt::format("<g transform=\"translate({:.1f} {:.1f}) scale({:.5f} {:.5f})\" shape-rendering=\"crispEdges\">\n",
                  left, kTop, (kWidth - kRight - left) / static_cast<double>(raster.width),
                  (kHeight - kBottom - kTop) / static_cast<double>(raster.height));
  for (const auto& [colour, path] : paths) out += fmt::format("<path fill=\"#{:06x}\" d=\"{}\"/>\n", colour, path);
  return out + "</g>\n";
}

std::string line_of(const FigureLine& line, const Page& page) {
  if (line.points.empty()) return {};
  std::string path;
  for (const auto& [x, y] : line.points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", page.x(x), page.y(y));
  std::string out = fmt::format("<path d=\"{}\" stroke=\"{}\" fill=\"none\" stroke-width=\"1.5\"{}/>\n", path, kDim,
                                line.dashed ? " stroke-dasharray=\"6 5\"" : "");
  if (!line.name.empty()) {
    const auto& [x, y] = line.points.back();
    out += words_at(page.x(x) - 4, page.y(y) - 6, line.name, kDim, "end");
  }
  return out;
}

std::string bar_of(const FigureBar& bar, const Page& page, double rows) {
  const double height = (kHeight - kTop - kBottom) / std::max(rows, 1.0) * (rows > 0 ? 0.7 : 1);
  const double from = page.x(bar.from), to = page.x(bar.to), middle = page.y(bar.row);
  std::string out =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", from,
                  middle - height / 2, std::max(to - from, 0.5), height, kBars[bar.colour % std::size(kBars)]);
  if (bar.label.empty()) return out;
  const bool inside = static_cast<double>(bar.label.size()) * kLetter < to - from - 8;
  // A white edge keeps the label readable on every bar.
  return out + words_at(inside ? from + 5 : to + 5, middle + 4, bar.label, kInk, "start",
                        " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\"");
}

std::string point_of(const FigurePoint& point, const Page& page) {
  const double x = page.x(point.x), y = page.y(point.y);
  const char* colour = point.fault ? kBad : colour_of(point.kind);
  std::string out;
  if (point.high > point.low)
    out += stroke(x, page.y(point.low), x, page.y(point.high), colour, " stroke-width=\"5\" stroke-opacity=\"0.35\"");
  switch (point.kind) {
    case FigureKind::measured:
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", x, y, colour);
      break;
    case FigureKind::counted:
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"9\" height=\"9\" fill=\"{}\"/>\n", x - 4.5, y - 4.5,
                         colour);
      break;
    case FigureKind::modelled:
      out += fmt::format(
          "<path d=\"M{:.1f} {:.1f} l6 6 l-6 6 l-6 -6 z\" fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"2\"/>\n", x,
          y - 6, colour);
      break;
    case FigureKind::reported:
      out += stroke(x - 6, y, x + 6, y, colour, " stroke-width=\"2\" stroke-dasharray=\"4 2\"");
      break;
  }
  const std::string words = point.fault ? "\u2715 " + point.label : point.label;
  return words.empty() ? out : out + words_at(x, y - 12, words, kInk, "middle");
}

// The kinds of figures that are shown, each with its mark.
std::string legend_of(const Figure& figure) {
  std::string out;
  double at = kWidth - kRight;
  for (const FigureKind kind :
       {FigureKind::measured, FigureKind::counted, FigureKind::modelled, FigureKind::reported}) {
    if (std::ranges::none_of(figure.points, [&](const FigurePoint& point) { return point.kind == kind; })) continue;
    const std::string word(to_string(kind));
    out += words_at(at, 28, word, kInk, "end");
    at -= static_cast<double>(word.size()) * kLetter + 34;
    Figure flat;
    flat.x.low = flat.y.low = 0;
    const Page page(flat);
    const double x = (at + 18 - page.left()) / (kWidth - kRight - page.left());
    const double y = (kHeight - kBottom - 24) / (kHeight - kBottom - kTop);
    out += point_of({x, y, 0, 0, kind, false, ""}, page);
  }
  return out;
}

}  // namespace

std::string svg_of(const Figure& figure) {
  const Page page(figure);
  const double rows = std::abs(figure.y.high - figure.y.low);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  out += words_at(20, 28, figure.title, kInk, "start", " font-size=\"17\" font-weight=\"600\"");
  out += words_at(20, 47, figure.note, kDim, "start");
  out += legend_of(figure) + axes_of(figure, page) + raster_of(figure.raster, page.left());
  const bool pairs =
      std::ranges::any_of(figure.bars, [](const FigureBar& bar) { return bar.row != std::floor(bar.row); });
  for (const FigureBar& bar : figure.bars) out += bar_of(bar, page, pairs ? rows * 2 : rows);
  for (const FigureLine& line : figure.lines) out += line_of(line, page);
  for (const FigurePoint& point : figure.points) out += point_of(point, page);
  return out + "</svg>\n";
}

}  // namespace attnscope::charts
