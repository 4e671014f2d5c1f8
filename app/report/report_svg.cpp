// A report as a picture: one panel per row, one line per entry, time to the right on a logarithmic axis. A measured
// time is a dot with a bar from p10 to p90, a modelled one a hollow diamond; the marks are never shared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/escape.h"
#include "report/bench_report.h"

namespace attnscope::report {
namespace {

constexpr double kWidth = 960, kLeft = 190, kRight = 300, kLine = 26, kHead = 46, kAxis = 34, kGap = 18, kTop = 14;
constexpr const char* kInk = "#1f2430";
constexpr const char* kFaint = "#d8dce4";
constexpr const char* kMuted = "#5b6475";
constexpr const char* kOurs = "#1b5fa8";  // blue and orange differ for every kind of colour vision (Okabe and Ito)
constexpr const char* kPeer = "#b45f06";

std::string text_at(double x, double y, const std::string& text, const char* colour, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}>{}</text>\n", x, y, colour, more, xml_text(text));
}

std::string line_at(double x1, double y1, double x2, double y2, const char* colour, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", x1, y1, x2,
      y2, colour, width);
}

// Maps us to x. Leaves room on both sides and spans at least a factor of two, so that a single time has an axis too.
class Axis {
 public:
  explicit Axis(const Row& row) {
    double low = 0, high = 0;
    for (const Cell& cell : row.cells) {
      if (cell.state != CellState::timed) continue;
      const double least = std::max(std::min(cell.p10, cell.p50), 1e-3), most = std::max(cell.p90, cell.p50);
      low = low == 0 ? least : std::min(low, least);
      high = std::max(high, most);
    }
    if (low == 0) low = high = 1;
    const double middle = std::sqrt(low * high), half = std::max(std::sqrt(high / low) * 1.15, std::sqrt(2.0));
    low_ = std::log10(middle / half);
    high_ = std::log10(middle * half);
  }
  double x(double us) const { return kLeft + (std::log10(us) - low_) / (high_ - low_) * (kWidth - kLeft - kRight); }
  // 1, 2 and 5 of every decade; with many decades only 1.
  std::vector<double> ticks() const {
    std::vector<double> out;
    for (int decade = int(std::floor(low_)); decade <= int(std::ceil(high_)); ++decade)
      for (const double step : {1.0, 2.0, 5.0}) {
        const double us = step * std::pow(10.0, decade), at = std::log10(us);
        if (at >= low_ && at <= high_ && (step == 1.0 || high_ - low_ < 2.2)) out.push_back(us);
      }
    return out;
  }

 private:
  double low_ = 0, high_ = 1;
};

std::string tick_text(double us) { return us < 100 ? fmt::format("{:.3g}", us) : us_text(us); }

std::string mark(const Cell& cell, const Axis& axis, double y, const char* colour) {
  const double x = axis.x(cell.p50);
  if (cell.kind != FigureKind::measured)
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f} l6 6 l-6 6 l-6 -6 z\" fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"2\"/>\n", x,
        y - 6, colour);
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"8\" rx=\"2\" fill=\"{}\" "
      "fill-opacity=\"0.3\"/>\n<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n",
      axis.x(cell.p10), y - 4, std::max(axis.x(cell.p90) - axis.x(cell.p10), 1.0), colour, x, y, colour);
}

std::string words_of(const BenchReport& report, const Row& row, const Cell& cell) {
  std::string words = us_text(cell.p50) + " us " + std::string(attnscope::to_string(cell.kind));
  const auto peer = best_peer(report, row);
  const Ratio* ratio = peer ? ratio_to(cell, *peer) : nullptr;
  if (ratio) words += fmt::format(", {}", ratio_text(*ratio, cell.kind));
  return words;
}

// A reason that is too long for its place ends in an ellipsis; the tooltip has all of it.
std::string shortened(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, std::min(text.find_last_of(' ', most), most)) + " ...";
}

std::string panel(const BenchReport& report, const Row& row, double top) {
  const Axis axis(row);
  const double first = top + kHead, bottom = first + kLine * double(row.cells.size());
  std::string out = text_at(14, top + 16, problem_text(row.problem) + ", " + std::string(to_string(row.cache)), kInk,
                            " font-weight=\"600\"");
  std::string under = report.device_name.empty() ? report.device : report.device_name;
  if (const auto peer = best_peer(report, row)) under += "; ratio to " + report.entries[*peer].label;
  out += text_at(14, top + 33, under, kMuted, " font-size=\"12\"");
  for (const double us : axis.ticks()) {
    out += line_at(axis.x(us), first, axis.x(us), bottom, kFaint, 1);
    out += text_at(axis.x(us), bottom + 16, tick_text(us), kMuted, " font-size=\"11\" text-anchor=\"middle\"");
  }
  out += text_at(kWidth - kRight + 14, bottom + 16, "us", kMuted, " font-size=\"11\"");
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    const double y = first + kLine * (double(i) + 0.5);
    const char* colour = report.entries[i].peer ? kPeer : kOurs;
    out += "<g><title>" + xml_text(report.entries[i].label + " " + cell.config + " " + cell.reason) + "</title>\n";
    out += text_at(kLeft - 12, y + 4, report.entries[i].label, kInk, " text-anchor=\"end\"");
    if (cell.state == CellState::timed) {
      out += mark(cell, axis, y, colour);
      out += text_at(kWidth - kRight + 14, y + 4, words_of(report, row, cell), kInk, " font-size=\"12\"");
    } else {
      const std::string word(attnscope::to_string(cell.state));
      out += text_at(kLeft, y + 4, shortened(word + ": " + cell.reason, 110), kMuted, " font-size=\"12\"");
    }
    out += "</g>\n";
  }
  return out;
}

}  // namespace

std::string as_svg(const BenchReport& report) {
  std::string panels;
  double y = kTop;
  for (const Row& row : report.rows) {
    panels += panel(report, row, y);
    y += kHead + kLine * double(row.cells.size()) + kAxis + kGap;
  }
  panels += text_at(14, y + 4,
                    "Dot: measured p50, bar p10 to p90. Hollow diamond: modelled. Orange: peers. attnscope " +
                        report.versions.app + (report.date.empty() ? "" : ", " + report.date),
                    kMuted, " font-size=\"11\"");
  const double height = y + 18;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" font-family=\"Inter, Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
             "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
             kWidth, height) +
         panels + "</svg>\n";
}

}  // namespace attnscope::report
