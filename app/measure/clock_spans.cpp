#include "measure/clock_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace attnscope::measure {
namespace {

// Where an SM's count begins on the clocks that all share.
struct Alignment {
  std::map<uint32_t, double> shift;  // by SM: what is added to its count, relative to `zero`
  std::map<uint32_t, uint64_t> zero;
  double mhz = 0;

  double at(uint32_t sm, uint64_t clock) const {
    return static_cast<double>(static_cast<int64_t>(clock - zero.at(sm))) + shift.at(sm);
  }
};

Result<Alignment> align(const ClockSpans& measured) {
  std::map<uint32_t, SmClock> before, after;
  for (const SmClock& one : measured.before) before.try_emplace(one.sm, one);
  for (const SmClock& one : measured.after) after.try_emplace(one.sm, one);
  Alignment made;
  std::vector<double> rates;
  uint64_t first_ns = UINT64_MAX;
  for (const auto& [sm, one] : before) {
    first_ns = std::min(first_ns, one.ns);
    const auto later = after.find(sm);
    if (later == after.end() || later->second.ns <= one.ns || later->second.clock <= one.clock) continue;
    rates.push_back(1e3 * static_cast<double>(later->second.clock - one.clock) /
                    static_cast<double>(later->second.ns - one.ns));
  }
  if (rates.empty()) return fail(Stage::device, "the GPU's clocks stand still", "Run it again.");
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  made.mhz = *middle;
  for (const auto& [sm, one] : before) {
    made.zero[sm] = one.clock;
    made.shift[sm] = static_cast<double>(one.ns - first_ns) * made.mhz / 1e3;
  }
  return made;
}

// Gives each CTA of an SM a place: the first that is free. They are ascending by their start.
int64_t place(std::vector<CtaSpan*>& ctas) {
  std::vector<double> free_from;
  for (CtaSpan* one : ctas) {
    size_t at = 0;
    while (at < free_from.size() && free_from[at] > one->from) ++at;
    if (at == free_from.size()) free_from.push_back(0);
    free_from[at] = one->to;
    one->place = static_cast<int64_t>(at);
  }
  return static_cast<int64_t>(free_from.size());
}

// The rows of the SM's warps, and their spans at the clocks asked for.
void take_warps(const ClockSpans& measured, const Alignment& clocks, double first, SmTimeline& made) {
  std::map<std::pair<int64_t, int64_t>, int64_t> rows;  // by place and warp
  for (const CtaSpan& cta : made.ctas) {
    if (cta.sm != made.sm) continue;
    for (int64_t warp = 0; warp < measured.warps; ++warp) rows.try_emplace({cta.place, warp}, 0);
  }
  for (auto& [at, row] : rows) {
    row = static_cast<int64_t>(made.warps.size());
    if (made.warps.size() < SmTimeline::kMostWarps) made.warps.push_back({at.first, at.second, 0});
  }
  for (const CtaSpan& cta : made.ctas) {
    if (cta.sm != made.sm) continue;
    for (int64_t warp = 0; warp < measured.warps; ++warp) {
      const WarpClocks& one = measured.spans[static_cast<size_t>(cta.cta * measured.warps + warp)];
      const WarpSpan span{rows.at({cta.place, warp}), cta.cta, clocks.at(one.sm, one.from) - first,
                          clocks.at(one.sm, one.to) - first};
      const bool seen = span.to > made.from && span.from < made.to();
      if (seen && static_cast<size_t>(span.row) < made.warps.size() && made.spans.size() < SmTimeline::kMostSpans)
        made.spans.push_back(span);
    }
  }
  std::ranges::sort(made.spans, {}, [](const WarpSpan& one) { return std::tuple(one.row, one.from); });
}

Result<void> check_spans(const ClockSpans& measured, const Alignment& clocks) {
  for (size_t at = 0; at < measured.spans.size(); ++at) {
    const WarpClocks& one = measured.spans[at];
    const auto warps = static_cast<size_t>(measured.warps);
    if (one.from == 0 || one.to < one.from)
      return fail(Stage::launch, fmt::format("warp {} of CTA {} did not record its end", at % warps, at / warps),
                  "It ends by an instruction of its own and not at the end of the kernel's body.");
    if (!clocks.zero.contains(one.sm))
      return fail(Stage::device, fmt::format("the clock of SM {} was not read", one.sm),
                  "Another program may use the GPU. Run it again.");
  }
  return {};
}

}  // namespace

Result<SmTimeline> measured_timeline(const ClockSpans& measured, int64_t sms, const ClockTwin& twin,
                                     const TimelineAsk& ask) {
  auto clocks = align(measured);
  if (!clocks) return fail(clocks.error());
  if (auto fine = check_spans(measured, *clocks); !fine) return fail(fine.error());
  SmTimeline made;
  made.twin = twin;
  made.sms = sms;
  made.total_ctas = measured.total_ctas;
  made.clock_mhz = clocks->mhz;
  const auto warps = static_cast<size_t>(measured.warps);
  double first = 0;
  for (size_t at = 0; at < measured.spans.size(); at += warps) {
    CtaSpan cta{static_cast<int64_t>(at / warps), measured.spans[at].sm, 0, 0, 0};
    for (size_t warp = at; warp < at + warps; ++warp) {
      const WarpClocks& one = measured.spans[warp];
      const double from = clocks->at(one.sm, one.from), to = clocks->at(one.sm, one.to);
      cta.from = warp == at ? from : std::min(cta.from, from);
      cta.to = warp == at ? to : std::max(cta.to, to);
    }
    first = at == 0 ? cta.from : std::min(first, cta.from);
    made.sms = std::max(made.sms, cta.sm + 1);
    made.ctas.push_back(cta);
  }
  std::map<int64_t, std::vector<CtaSpan*>> by_sm;
  for (CtaSpan& cta : made.ctas) {
    cta.from -= first;
    cta.to -= first;
    by_sm[cta.sm].push_back(&cta);
  }
  for (auto& [sm, ctas] : by_sm) {
    std::ranges::sort(ctas, {}, &CtaSpan::from);
    made.places = std::max(made.places, place(ctas));
  }
  const auto fuller = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto most = std::ranges::max_element(by_sm, fuller);
  made.sm = ask.sm < 0 && most != by_sm.end() ? most->first : std::max<int64_t>(0, ask.sm);
  if (made.sm >= made.sms)
    return fail(Stage::input, fmt::format("there is no SM {}", made.sm),
                fmt::format("The SMs are 0 to {}.", made.sms - 1));
  for (const CtaSpan& cta : made.ctas)
    if (cta.sm == made.sm) made.clocks = std::max(made.clocks, cta.to);
  made.from = static_cast<double>(ask.from);
  made.columns = 1;
  made.column = std::max(1.0, (ask.to > 0 ? static_cast<double>(ask.to) : made.clocks) - made.from);
  take_warps(measured, *clocks, first, made);
  return made;
}

}  // namespace attnscope::measure
