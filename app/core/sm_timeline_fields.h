#pragma once
#include "core/fields.h"
#include "core/sm_timeline.h"

// The fields of a request for an SM's timeline and of its answer.
namespace attnscope {

template <>
struct FieldsOf<TimelineAsk> {
  using Of = TimelineAsk;
  static constexpr Limits kClock{.low = 0, .high = int64_t{1} << 50};
  static constexpr auto list =
      std::tuple{Field{"measured", &Of::measured}, Field{"sm", &Of::sm, Limits{.low = -1, .high = 1 << 20}},
                 Field{"from", &Of::from, kClock}, Field{"to", &Of::to, kClock},
                 Field{"step", &Of::step, Limits{.low = 0, .high = 63, .sparse = true}}};
  static void check(JsonReader& read, Of& ask) {
    if (ask.to != 0 && ask.to < ask.from + Of::kLeast) read.fault("to", "leaves too few clocks");
  }
};

template <>
struct FieldsOf<CtaSpan> {
  using Of = CtaSpan;
  static constexpr Limits kWhole{.low = 0, .high = int64_t{1} << 50, .required = true};
  static constexpr Limits kClock{.low = 0, .required = true};
  static constexpr auto list =
      std::tuple{Field{"cta", &Of::cta, kWhole}, Field{"sm", &Of::sm, kWhole}, Field{"place", &Of::place, kWhole},
                 Field{"from", &Of::from, kClock}, Field{"to", &Of::to, kClock}};
};

template <>
struct FieldsOf<WarpPlace> {
  using Of = WarpPlace;
  static constexpr Limits kWhole{.low = 0, .high = 1 << 20, .required = true};
  static constexpr auto list = std::tuple{Field{"place", &Of::place, kWhole}, Field{"warp", &Of::warp, kWhole},
                                          Field{"scheduler", &Of::scheduler, kWhole}};
};

template <>
struct FieldsOf<WarpSpan> {
  using Of = WarpSpan;
  static constexpr Limits kClock{.low = 0, .required = true};
  static constexpr auto list =
      std::tuple{Field{"row", &Of::row, Limits{.low = 0, .high = double(SmTimeline::kMostWarps), .required = true}},
                 Field{"cta", &Of::cta, Limits{.low = 0, .high = int64_t{1} << 50, .required = true}},
                 Field{"from", &Of::from, kClock}, Field{"to", &Of::to, kClock}};
};

template <>
struct FieldsOf<ClockTwin> {
  using Of = ClockTwin;
  static constexpr Limits kFew{.low = 0, .high = 1 << 20, .required = true};
  static constexpr auto list =
      std::tuple{Field{"registers", &Of::registers, kFew}, Field{"kernel_registers", &Of::kernel_registers, kFew},
                 Field{"ctas_sm", &Of::ctas_sm, kFew}, Field{"kernel_ctas_sm", &Of::kernel_ctas_sm, kFew}};
};

// Checks that every warp has its columns, so that readers need no further checks.
template <>
struct FieldsOf<SmTimeline> {
  using Of = SmTimeline;
  static constexpr Limits kWhole{.low = 0, .high = int64_t{1} << 50};
  static constexpr Limits kClock{.low = 0};
  static constexpr auto list = std::tuple{
      Field{"sms", &Of::sms, kWhole},
      Field{"sm", &Of::sm, kWhole},
      Field{"places", &Of::places, Limits{.low = 0, .high = 1 << 20}},
      Field{"total_ctas", &Of::total_ctas, kWhole},
      Field{"clock_mhz", &Of::clock_mhz, kClock},
      Field{"clocks", &Of::clocks, kClock},
      Field{"complete", &Of::complete},
      Field{"by_instructions", &Of::by_instructions},
      Field{"ctas", &Of::ctas, Limits{.most = Of::kMostCtas}},
      Field{"warps", &Of::warps, Limits{.most = Of::kMostWarps}},
      Field{"from", &Of::from, kClock},
      Field{"column", &Of::column, Limits{.low = 1e-6}},
      Field{"columns", &Of::columns, Limits{.low = 0, .high = double(Of::kColumns)}},
      Field{"twin", &Of::twin, Limits{.sparse = true}},
      Field{"spans", &Of::spans, Limits{.most = Of::kMostSpans}},
      Field{"shares", &Of::shares, Limits{.bytes = sizeof(float) * Of::kMostWarps * Of::kColumns * kWarpStates}},
      Field{"launch", &Of::launch, Limits{.bytes = 1200, .sparse = true}}};
  static void check(JsonReader& read, Of& made) {
    const size_t columns = made.measured() ? 0 : static_cast<size_t>(made.columns);
    if (made.shares.size() != made.warps.size() * columns * kWarpStates)
      read.fault("shares", "does not hold its numbers for each warp and column");
    for (const WarpSpan& one : made.spans)
      if (static_cast<size_t>(one.row) >= made.warps.size())
        return read.fault("spans", "names a warp that is not there");
  }
};

}  // namespace attnscope
