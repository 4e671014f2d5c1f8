#include "cli/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "charts/timeline_view.h"
#include "core/escape.h"
#include "core/observation.h"

namespace attnscope::cli {
namespace {

constexpr size_t kColumns = 96;    // of a terminal's line
constexpr size_t kMostSpans = 64;  // CTAs of the SM that are listed

char letter_of(WarpState state) {
  switch (state) {
    case WarpState::issue:
      return '#';
    case WarpState::turn:
      return 't';
    case WarpState::result:
      return 'r';
    case WarpState::shared:
      return 's';
    case WarpState::memory:
      return 'm';
    case WarpState::barrier:
      return 'b';
    case WarpState::start:
      return '.';
  }
  return '?';
}

// "CTAs by SM: 12 SMs with 3, 46 with 2."
std::string spread_text(const SmTimeline& timeline) {
  std::map<int64_t, int64_t, std::greater<>> sms_with;
  for (int64_t sm = 0; sm < timeline.sms; ++sm) ++sms_with[charts::ctas_on(timeline, sm)];
  std::string text;
  for (const auto& [ctas, sms] : sms_with)
    text += fmt::format("{}{}{} with {}", text.empty() ? "" : ", ", sms,
                        text.empty() ? (sms == 1 ? " SM" : " SMs") : "", ctas);
  return "CTAs by SM: " + text + ".\n";
}

std::string spans_text(const SmTimeline& timeline) {
  std::string text =
      fmt::format("{:>10} {:>6} {:>14} {:>14} {:>14}\n", "CTA", "place", "from clock", "to clock", "clocks");
  size_t listed = 0;
  for (const CtaSpan& one : timeline.ctas) {
    if (one.sm != timeline.sm) continue;
    if (listed++ == kMostSpans) return text + "         \u2026\n";
    text += fmt::format("{:>10} {:>6} {:>14.0f} {:>14.0f} {:>14.0f}\n", one.cta, one.place, one.from, one.to,
                        one.to - one.from);
  }
  return text;
}

// A warp's columns: '=' where a CTA's warp runs in most of it.
std::string spans_line(const SmTimeline& timeline, size_t row) {
  std::string line(kColumns, ' ');
  const double column = timeline.column / double(kColumns);
  for (const WarpSpan& one : timeline.spans) {
    if (static_cast<size_t>(one.row) != row) continue;
    for (size_t at = 0; at < kColumns; ++at) {
      const double middle = timeline.from + (double(at) + 0.5) * column;
      if (one.from <= middle && middle < one.to) line[at] = '=';
    }
  }
  return line;
}

std::string measured_warps_text(const SmTimeline& timeline) {
  std::string text = fmt::format("Warps from clock {:.0f}, {:.0f} clocks a column; = a warp has begun and not ended:\n",
                                 timeline.from, timeline.column / double(kColumns));
  text += fmt::format("{:>5} {:>4}\n", "place", "warp");
  for (size_t row = 0; row < timeline.warps.size(); ++row)
    text += fmt::format("{:>5} {:>4}  {}\n", timeline.warps[row].place, timeline.warps[row].warp,
                        spans_line(timeline, row));
  return text;
}

std::string warps_text(const SmTimeline& timeline) {
  const SmTimeline drawn = charts::coarser(timeline, kColumns);
  std::string text =
      fmt::format("Warps from clock {:.0f}, {:.0f} clocks a column; each has the state that takes most of it:\n",
                  drawn.from, drawn.column);
  text += fmt::format("{:>5} {:>4} {:>5}\n", "place", "warp", "sched");
  for (size_t warp = 0; warp < drawn.warps.size(); ++warp) {
    const WarpPlace& place = drawn.warps[warp];
    text += fmt::format("{:>5} {:>4} {:>5}  ", place.place, place.warp, place.scheduler);
    for (size_t at = 0; at < static_cast<size_t>(drawn.columns); ++at) {
      const auto most = charts::most_of(drawn, warp, at);
      text += most ? letter_of(*most) : ' ';
    }
    text += "\n";
  }
  return text;
}

std::string shares_text(const SmTimeline& timeline) {
  const charts::StateShares shares = charts::state_shares(timeline);
  std::string text;
  for (const auto& [state, word] : Words<WarpState>::table)
    text += fmt::format("{}  {:<14} {:>5.1f} %  {}\n", letter_of(state), to_string(state),
                        100 * shares[static_cast<size_t>(state)], sentence_of(state));
  return text;
}

}  // namespace

std::string timeline_text(const SmTimeline& timeline, const std::string& what, const std::string& device) {
  std::string text = one_line(what) + ", " + std::string(word_of(charts::kind_of(timeline))) + "\n" +
                     one_line(charts::timeline_heading(timeline, device)) + "\n";
  if (const std::string caution = charts::timeline_caution(timeline); !caution.empty()) text += caution + "\n";
  text += spread_text(timeline);
  if (timeline.warps.empty()) return text + "This SM has no CTA.";
  if (timeline.measured()) return text + spans_text(timeline) + "\n" + measured_warps_text(timeline);
  return text + spans_text(timeline) + "\n" + warps_text(timeline) + "\n" + shares_text(timeline);
}

Json timeline_json(const SmTimeline& timeline) {
  Json ctas = Json::array(), warps = Json::array();
  for (const CtaSpan& one : timeline.ctas)
    ctas.push_back({{"cta", one.cta}, {"sm", one.sm}, {"place", one.place}, {"from", one.from}, {"to", one.to}});
  for (size_t warp = 0; warp < timeline.warps.size(); ++warp) {
    const WarpPlace& place = timeline.warps[warp];
    if (timeline.measured()) {
      warps.push_back({{"place", place.place}, {"warp", place.warp}, {"spans", Json::array()}});
      continue;
    }
    Json shares = Json::object();
    for (const auto& [state, word] : Words<WarpState>::table) {
      Json list = Json::array();
      for (size_t at = 0; at < static_cast<size_t>(timeline.columns); ++at)
        list.push_back(std::round(double(timeline.share(warp, at, state)) * 1e6) / 1e6);
      shares[std::string(word)] = std::move(list);
    }
    warps.push_back(
        {{"place", place.place}, {"warp", place.warp}, {"scheduler", place.scheduler}, {"shares", std::move(shares)}});
  }
  for (const WarpSpan& one : timeline.spans)
    warps[static_cast<size_t>(one.row)]["spans"].push_back({{"cta", one.cta}, {"from", one.from}, {"to", one.to}});
  Json json{{"kind", std::string(word_of(charts::kind_of(timeline)))},
            {"sms", timeline.sms},
            {"sm", timeline.sm},
            {"places", timeline.places},
            {"total_ctas", timeline.total_ctas},
            {"clock_mhz", timeline.clock_mhz},
            {"clocks", timeline.clocks},
            {"complete", timeline.complete},
            {"by_instructions", timeline.by_instructions},
            {"from", timeline.from},
            {"column", timeline.column},
            {"ctas", std::move(ctas)},
            {"warps", std::move(warps)}};
  if (timeline.launch) json["launch"] = *timeline.launch;
  if (const auto& twin = timeline.twin)
    json["twin"] = {{"registers", twin->registers},
                    {"kernel_registers", twin->kernel_registers},
                    {"ctas_sm", twin->ctas_sm},
                    {"kernel_ctas_sm", twin->kernel_ctas_sm}};
  return json;
}

}  // namespace attnscope::cli
