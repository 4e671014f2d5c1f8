#include "charts/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "core/with_commas.h"

namespace attnscope::charts {
namespace {

constexpr size_t kDrawnColumns = 96;  // in a figure

std::vector<std::pair<double, std::string>> clock_marks(double from, double to) {
  std::vector<std::pair<double, std::string>> marks;
  const double span = to - from;
  if (span <= 0) return marks;
  double step = std::pow(10, std::floor(std::log10(span / 4)));
  for (const double more : {2.0, 2.5, 2.0})
    if (span / step > 8) step *= more;
  step = std::max(1.0, std::floor(step));
  for (double at = std::ceil(from / step) * step; at <= to; at += step)
    marks.emplace_back(at, with_commas(static_cast<int64_t>(std::lround(at))));
  return marks;
}

FigureAxis clock_axis(double from, double to) {
  return {"clocks from the first CTA's start", from, std::max(to, from + 1), false, clock_marks(from, to)};
}

std::string note_of(const SmTimeline& timeline, const std::string& device) {
  const std::string caution = timeline_caution(timeline);
  return std::string(word_of(kind_of(timeline))) + ". " + timeline_heading(timeline, device) +
         (caution.empty() ? "" : ". " + caution);
}

}  // namespace

std::optional<WarpState> most_of(const SmTimeline& timeline, size_t warp, size_t column) {
  std::optional<WarpState> most;
  double sum = 0, largest = 0;
  for (const auto& [state, word] : Words<WarpState>::table) {
    const auto share = double(timeline.share(warp, column, state));
    sum += share;
    if (share > largest) largest = share, most = state;
  }
  return largest >= 1 - sum ? most : std::nullopt;
}

StateShares state_shares(const SmTimeline& timeline) {
  StateShares sums{};
  double all = 0;
  for (size_t at = 0; at < timeline.shares.size(); ++at) {
    sums[at % kWarpStates] += double(timeline.shares[at]);
    all += double(timeline.shares[at]);
  }
  if (all > 0)
    for (double& sum : sums) sum /= all;
  return sums;
}

SmTimeline coarser(const SmTimeline& timeline, size_t columns) {
  SmTimeline made = timeline;
  const auto had = static_cast<size_t>(timeline.columns);
  if (columns == 0 || had <= columns) return made;
  const size_t each = (had + columns - 1) / columns, now = (had + each - 1) / each;
  made.column = timeline.column * double(each);
  made.columns = static_cast<int64_t>(now);
  made.shares.assign(timeline.warps.size() * now * kWarpStates, 0);
  for (size_t warp = 0; warp < timeline.warps.size(); ++warp)
    for (size_t at = 0; at < had; ++at) {
      const size_t into = at / each, of = std::min(each, had - into * each);  // the last column may combine fewer
      for (size_t state = 0; state < kWarpStates; ++state)
        made.shares[(warp * now + into) * kWarpStates + state] +=
            timeline.shares[(warp * had + at) * kWarpStates + state] / static_cast<float>(of);
    }
  return made;
}

std::string clocks_text(const SmTimeline& timeline, double clocks) {
  std::string text = with_commas(static_cast<int64_t>(std::lround(clocks))) + " clocks";
  if (timeline.clock_mhz > 0) text += ", " + us_text(clocks / timeline.clock_mhz);
  return text;
}

FigureKind kind_of(const SmTimeline& timeline) {
  return timeline.measured() ? FigureKind::measured : FigureKind::modelled;
}

int64_t at_a_time(const SmTimeline& timeline) {
  return timeline.twin && timeline.twin->ctas_sm > 0 ? timeline.twin->ctas_sm : timeline.places;
}

int64_t wave_of(const SmTimeline& timeline, const CtaSpan& cta) {
  return cta.cta / std::max<int64_t>(1, timeline.sms * at_a_time(timeline));
}

int64_t ctas_on(const SmTimeline& timeline, int64_t sm) { return std::ranges::count(timeline.ctas, sm, &CtaSpan::sm); }

double ctas_end(const SmTimeline& timeline) {
  double end = 0;
  for (const CtaSpan& one : timeline.ctas) end = std::max(end, one.to);
  return end;
}

std::string unlike_timelines(const SmTimeline& a, const SmTimeline& b) {
  if (a.measured() != b.measured()) return "one is measured, the other modelled";
  if (a.sms != b.sms) return fmt::format("A has {} SMs", a.sms);
  if (a.launch != b.launch) return "A's is of another launch" + (a.launch ? ": " + *a.launch : std::string());
  return {};
}

std::string timeline_heading(const SmTimeline& timeline, const std::string& device) {
  const int64_t ctas = ctas_on(timeline, timeline.sm);
  return fmt::format("{}SM {} of {} ({}): {} CTA{}, {} at a time; {}",
                     timeline.launch ? *timeline.launch + ", " : std::string(), timeline.sm, timeline.sms, device, ctas,
                     ctas == 1 ? "" : "s", at_a_time(timeline), clocks_text(timeline, timeline.clocks));
}

std::string timeline_caution(const SmTimeline& timeline) {
  std::string text;
  const auto say = [&](const std::string& words) { text += (text.empty() ? "" : " ") + words; };
  if (const auto& twin = timeline.twin) {
    std::string words = fmt::format("Clocks of an instrumented twin: {} registers, the kernel has {}", twin->registers,
                                    twin->kernel_registers);
    if (twin->ctas_sm != twin->kernel_ctas_sm)
      words += fmt::format("; an SM holds {} of its CTAs, and {} of the kernel's", twin->ctas_sm, twin->kernel_ctas_sm);
    say(words + ".");
  }
  if (!timeline.complete) say("The simulation ends here; the kernel runs on.");
  if (timeline.by_instructions) say("CTAs of the other SMs end by their instructions, at this SM's rate.");
  if (timeline.total_ctas > static_cast<int64_t>(timeline.ctas.size()) && timeline.complete)
    say(fmt::format("Here are the first {} of {} CTAs.", with_commas(static_cast<int64_t>(timeline.ctas.size())),
                    with_commas(timeline.total_ctas)));
  if (timeline.warps.size() >= SmTimeline::kMostWarps)
    say(fmt::format("At most {} rows of warps are here.", SmTimeline::kMostWarps));
  if (timeline.spans.size() >= SmTimeline::kMostSpans)
    say(fmt::format("At most {} warps are here; fewer clocks have them all.", with_commas(SmTimeline::kMostSpans)));
  return text;
}

Figure ctas_figure(const SmTimeline& timeline, const std::string& device) {
  Figure figure;
  figure.title = "CTAs by SM";
  figure.note = note_of(timeline, device);
  figure.x = clock_axis(0, ctas_end(timeline));
  figure.y = {"SM", double(timeline.sms) - 0.5, -0.5, false, {}};
  const int64_t step = std::max<int64_t>(1, (timeline.sms + 15) / 16);
  for (int64_t sm = 0; sm < timeline.sms; sm += step) figure.y.marks.emplace_back(double(sm), std::to_string(sm));
  figure.sheet.columns = {"cta", "sm", "place", "from_clocks", "to_clocks"};
  for (const CtaSpan& one : timeline.ctas) {
    figure.bars.push_back({double(one.sm), one.from, one.to, "", static_cast<size_t>(wave_of(timeline, one))});
    figure.sheet.rows.push_back({one.cta, one.sm, one.place, one.from, one.to});
  }
  return figure;
}

Figure warps_figure(const SmTimeline& timeline, const std::string& device) {
  Figure figure;
  figure.title = (timeline.measured() ? "Warps, SM " : "Warps by state, SM ") + std::to_string(timeline.sm);
  figure.note = note_of(timeline, device);
  figure.x = clock_axis(timeline.from, timeline.to());
  figure.y = {"place.warp", double(timeline.warps.size()) - 0.5, -0.5, false, {}};
  for (size_t warp = 0; warp < timeline.warps.size(); ++warp)
    if (timeline.warps.size() <= 24 || timeline.warps[warp].warp == 0)
      figure.y.marks.emplace_back(double(warp),
                                  fmt::format("{}.{}", timeline.warps[warp].place, timeline.warps[warp].warp));
  if (timeline.measured()) {
    figure.sheet.columns = {"place", "warp", "cta", "from_clocks", "to_clocks"};
    for (const WarpSpan& one : timeline.spans) {
      const WarpPlace& place = timeline.warps[static_cast<size_t>(one.row)];
      const double from = std::max(one.from, timeline.from), to = std::min(one.to, timeline.to());
      figure.bars.push_back({double(one.row), from, to, "", static_cast<size_t>(place.place)});
      figure.sheet.rows.push_back({place.place, place.warp, one.cta, one.from, one.to});
    }
    return figure;
  }
  const SmTimeline drawn = coarser(timeline, kDrawnColumns);
  for (size_t warp = 0; warp < drawn.warps.size(); ++warp)
    for (size_t at = 0; at < static_cast<size_t>(drawn.columns); ++at) {
      double from = drawn.from + double(at) * drawn.column;
      const double width = std::min(drawn.column, figure.x.high - from);
      for (const auto& [state, word] : Words<WarpState>::table) {
        const double clocks = double(drawn.share(warp, at, state)) * width;
        if (clocks > 0) figure.bars.push_back({double(warp), from, from + clocks, "", static_cast<size_t>(state)});
        from += clocks;
      }
    }
  figure.sheet.columns = {"place", "warp", "scheduler", "from_clocks", "to_clocks"};
  for (const auto& [state, word] : Words<WarpState>::table) figure.sheet.columns.emplace_back(word);
  for (size_t warp = 0; warp < timeline.warps.size(); ++warp)
    for (size_t at = 0; at < static_cast<size_t>(timeline.columns); ++at) {
      const WarpPlace& place = timeline.warps[warp];
      const double from = timeline.from + double(at) * timeline.column;
      std::vector<Cell>& row = figure.sheet.rows.emplace_back();
      row = {place.place, place.warp, place.scheduler, from, from + timeline.column};
      for (const auto& [state, word] : Words<WarpState>::table)
        row.emplace_back(double(timeline.share(warp, at, state)));
    }
  return figure;
}

}  // namespace attnscope::charts
