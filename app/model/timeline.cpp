#include "model/timeline.h"

#include <algorithm>
#include <utility>

#include "model/dispatch.h"
#include "model/misses.h"
#include "model/warp_recorder.h"

namespace attnscope::model {
namespace {

// A simulated SM.
struct Recorded {
  SmRun run;
  WarpRecorder recorder;
};

// `scale`: how many simulated clocks one clock of the view stands for.
Recorded record(const LatencyInput& in, SmLoad load, const TimelineAsk& ask, double scale, size_t columns) {
  Recorded made{{}, WarpRecorder(double(ask.from) / scale, double(ask.to) / scale, columns)};
  load.repeat = load.split = false;
  load.recorder = &made.recorder;
  made.run = simulate_sm(in.spec, *in.schedule, load);
  return made;
}

// How far the simulation went.
double end_of(const Recorded& sm) { return sm.run.simulated; }

void take_warps(const Recorded& sm, double scale, SmTimeline& out) {
  out.clocks = scale * end_of(sm);
  out.complete = sm.run.complete;
  out.warps = sm.recorder.warps();
  out.from = scale * sm.recorder.from();
  out.column = scale * sm.recorder.column();
  out.columns = static_cast<int64_t>(sm.recorder.columns_until(end_of(sm)));
  out.shares = sm.recorder.shares(end_of(sm));
  if (out.warps.size() > SmTimeline::kMostWarps) {
    out.warps.resize(SmTimeline::kMostWarps);
    out.shares.resize(out.warps.size() * static_cast<size_t>(out.columns) * kWarpStates);
  }
}

// The span of a recorded CTA; one that did not end lasts as long as the simulation.
CtaSpan span_of(const Recorded& sm, const WarpRecorder::Cta& one, int64_t cta, int64_t on, double scale) {
  return {cta, on, static_cast<int64_t>(one.place), scale * one.from,
          scale * (one.to < one.from ? end_of(sm) : one.to)};
}

void keep_first(SmTimeline& out) {
  std::ranges::sort(out.ctas, {}, &CtaSpan::cta);
  if (out.ctas.size() > SmTimeline::kMostCtas) out.ctas.resize(SmTimeline::kMostCtas);
}

// CTA n of the grid is on SM n mod sms, and all SMs with equally many CTAs do the same.
void of_equal(const LatencyInput& in, const TimelineAsk& ask, size_t columns, SmTimeline& out) {
  const int64_t sms = std::max<int64_t>(1, in.spec.sms), total = in.occupancy.total_ctas;
  const int64_t busiest = (total + sms - 1) / sms;
  const AskedOfL2 asked = double(busiest) * asked_of_l2(*in.schedule).front();
  out.sm = std::max<int64_t>(0, ask.sm);
  for (const int64_t count : {busiest, busiest - 1}) {
    const int64_t first = count == busiest ? 0 : total - (busiest - 1) * sms;  // SMs with that many: [first, end)
    const int64_t end = count == busiest ? total - (busiest - 1) * sms : sms;
    if (first >= end) continue;
    const bool here = first <= out.sm && out.sm < end;
    if (count == 0) continue;
    SmLoad load = sm_load(in, SmCtas(static_cast<size_t>(busiest)), asked);
    load.ctas.resize(static_cast<size_t>(count));
    const Recorded sm = record(in, std::move(load), ask, 1, here ? columns : 0);
    if (here) take_warps(sm, 1, out);
    for (const WarpRecorder::Cta& one : sm.recorder.ctas()) {
      const int64_t cta = static_cast<int64_t>(one.nth) * sms;
      if (cta > static_cast<int64_t>(SmTimeline::kMostCtas)) break;  // more than are kept
      for (int64_t on = first; on < end; ++on) out.ctas.push_back(span_of(sm, one, cta + on, on, 1));
    }
  }
}

void of_mixed(const LatencyInput& in, const TimelineAsk& ask, size_t columns, SmTimeline& out) {
  out.by_instructions = true;
  const auto sms = static_cast<size_t>(std::max<int64_t>(1, in.spec.sms));
  const std::vector<double> along_x = instructions_along_x(*in.schedule, in.launch);
  const std::vector<double> traced = instructions_of(*in.schedule);
  const std::vector<AskedOfL2> of_trace = asked_of_l2(*in.schedule);
  const std::vector<uint32_t> stand_in = trace_along_x(*in.schedule, in.launch);
  std::vector<PlacedCta> placed;
  std::vector<double> work(sms);
  size_t most = 0;
  hand_out(along_x, handed_out(in.launch), first_places(in.spec, in.occupancy.ctas_per_sm, in.launch.ctas()),
           [&](const PlacedCta& one) {
             const auto sm = static_cast<size_t>(one.sm);
             work[sm] += one.to - one.from;
             if (work[sm] > work[most]) most = sm;
             placed.push_back(one);
           });
  const size_t chosen = ask.sm < 0 ? most : static_cast<size_t>(ask.sm);
  out.sm = static_cast<int64_t>(chosen);
  SmCtas ctas;
  std::vector<int64_t> names;  // of the grid
  AskedOfL2 asked;
  double standing = 0;
  for (const PlacedCta& one : placed) {
    if (static_cast<size_t>(one.sm) != chosen) continue;
    ctas.push_back(stand_in[static_cast<size_t>(one.cta) % stand_in.size()]);
    names.push_back(one.cta);
    asked += of_trace[ctas.back()];
    standing += traced[ctas.back()];
  }
  double rate = 0;  // clocks per instruction
  if (!ctas.empty()) {
    const double scale = standing > 0 ? work[chosen] / standing : 1;
    const Recorded sm = record(in, sm_load(in, ctas, scale * asked), ask, scale, columns);
    take_warps(sm, scale, out);
    for (const WarpRecorder::Cta& one : sm.recorder.ctas())
      out.ctas.push_back(span_of(sm, one, names[one.nth], out.sm, scale));
    double last = 0;
    for (const PlacedCta& one : placed)
      if (static_cast<size_t>(one.sm) == chosen) last = std::max(last, one.to);
    if (last > 0) rate = scale * sm.run.clocks / last;
  }
  for (const PlacedCta& one : placed)
    if (static_cast<size_t>(one.sm) != chosen)
      out.ctas.push_back({one.cta, one.sm, one.place, rate * one.from, rate * one.to});
}

}  // namespace

SmTimeline timeline(const LatencyInput& in, const TimelineAsk& ask, size_t columns) {
  SmTimeline out;
  out.sms = in.spec.sms;
  out.places = in.occupancy.ctas_per_sm;
  out.total_ctas = in.occupancy.total_ctas;
  out.clock_mhz = clock_mhz(in);
  if (in.schedule->traces.size() == 1)
    of_equal(in, ask, columns, out);
  else
    of_mixed(in, ask, columns, out);
  keep_first(out);
  return out;
}

}  // namespace attnscope::model
