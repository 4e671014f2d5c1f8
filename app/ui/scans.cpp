#include "ui/scans.h"

#include <fmt/format.h>

#include "charts/format.h"

namespace attnscope::ui {

using charts::ScanRow;
using charts::ScanState;

const Scan* scan_of(const session::Snapshot& snapshot, const Draft& draft, const std::string& knob) {
  for (size_t at = snapshot.scans.size(); at-- > 0;) {
    const Scan& scan = *snapshot.scans[at];
    for (const ScanPoint& point : scan.points)
      if (point.knob == knob) {
        if (scan.holds(knob, draft)) return &scan;
        break;
      }
  }
  return nullptr;
}

charts::ScanSeries series_of(const Scan& scan, const Draft& draft, const std::string& knob) {
  for (charts::ScanSeries& series : charts::scan_series(scan, &draft.config))
    if (series.knob == knob) return std::move(series);
  return {};
}

void ask_scan(const Context& context, const std::string& knob) {
  session::ScanRequest request{.id = context.new_gesture(), .draft = context.draft.current(), .knobs = {knob}};
  const auto& shown = context.shown.observation;
  if (shown && shown->timing && !shown->failure) request.known = {shown};
  context.session.scan(std::move(request));
}

std::string why_not_scanned(const Knob& knob) {
  return knob.values.size() > 1 ? "" : knob.name + " has one value only.";
}

void take_value(Context& context, const Knob& knob, int64_t value) {
  Draft wish = context.draft.current();
  const auto held = wish.config.knobs.find(knob.name);
  const int64_t from = held != wish.config.knobs.end() ? held->second : knob.default_value;
  wish.config.knobs[knob.name] = value;
  context.post(std::move(wish), {context.new_gesture(), true, change_text(knob, from, value)});
}

std::string words_of(const ScanRow& row) {
  std::string words;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) words += (words.empty() ? "" : "\n") + line;
  };
  if (row.us) {
    std::string time = fmt::format("{} {}", charts::us_text(*row.us), to_string(row.kind));
    if (row.change) time += ", " + charts::change_text(*row.change) + " against the current value";
    add(time + (row.best ? "; the fastest" : row.tie ? "; as fast as the fastest" : ""));
  }
  if (row.state == ScanState::waiting) add("It has not run yet.");
  if (!row.same_as.empty()) add("The same machine code as " + row.same_as + ", which was timed.");
  if (!row.verdict.empty())
    add(std::string(attnscope::label(row.verdict)) + (row.checked.empty() ? "" : ", " + row.checked));
  add(row.reason);
  add(row.hint);
  if (!row.warning.empty()) add("Expect: " + row.warning);
  return words;
}

}  // namespace attnscope::ui
