#include "model/dispatch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>

#include "model/machine.h"
#include "model/rates.h"

namespace attnscope::model {
namespace {

// CTAs that are dispatched one by one; the further rows of the grid repeat these.
constexpr int64_t kMostDispatched = int64_t{1} << 18;
// With more waves than this, the longest CTA is a small part of its SM's work.
constexpr int64_t kFewWaves = 2;

// The work of an SM's schedulers, in instructions.
struct Schedulers {
  std::array<double, kSchedulers> work{};
  double most = 0;

  // A CTA of that many equal warps in this place.
  void add(size_t place, size_t warps, double instructions) {
    for (size_t w = 0; w < warps; ++w) {
      double& sum = work[scheduler_of(place, warps, w)];
      sum += instructions / double(warps);
      most = std::max(most, sum);
    }
  }
};

}  // namespace

std::vector<double> instructions_of(const KernelSchedule& schedule) {
  std::vector<double> instructions;
  for (const CtaTrace& trace : schedule.traces) {
    double sum = 0;
    for (size_t warp = 0; warp < trace.warps.size(); ++warp)
      trace.for_each_visit(
          warp, [&](const Visit& visit, int64_t times) { sum += double(times) * schedule.blocks[visit.block].count; });
    instructions.push_back(sum);
  }
  return instructions;
}

std::vector<uint32_t> trace_along_x(const KernelSchedule& schedule, const LaunchShape& launch) {
  const int64_t width = std::max<int64_t>(1, launch.grid[0]);
  std::vector<uint32_t> along_x;
  for (int64_t x = 0; x < width; ++x) {
    const auto nearest = std::ranges::min_element(
        schedule.traces, {}, [&](const CtaTrace& trace) { return std::abs(trace.cta % width - x); });
    along_x.push_back(static_cast<uint32_t>(nearest - schedule.traces.begin()));
  }
  return along_x;
}

std::vector<double> instructions_along_x(const KernelSchedule& schedule, const LaunchShape& launch) {
  const int64_t width = std::max<int64_t>(1, launch.grid[0]);
  const std::vector<double> traced = instructions_of(schedule);
  std::map<int64_t, double> known;  // by x
  for (size_t t = 0; t < traced.size(); ++t) known[schedule.traces[t].cta % width] = traced[t];
  std::vector<double> along_x;
  for (int64_t x = 0; x < width; ++x) {
    const auto after = known.lower_bound(x);
    const auto before = after == known.begin() ? after : std::prev(after);
    if (after == known.end())
      along_x.push_back(before->second);
    else if (after->first == before->first || after->first == x)
      along_x.push_back(after->second);
    else
      along_x.push_back(
          std::lerp(before->second, after->second, double(x - before->first) / double(after->first - before->first)));
  }
  return along_x;
}

int64_t handed_out(const LaunchShape& launch) {
  const int64_t total = launch.ctas(), width = std::max<int64_t>(1, launch.grid[0]);
  return total <= kMostDispatched ? total : std::max(width, kMostDispatched / width * width);
}

FirstPlaces first_places(const DeviceSpec& spec, int64_t resident, int64_t ctas) {
  FirstPlaces first{std::max<int64_t>(1, spec.sms), std::max<int64_t>(1, resident), ctas};
  const auto figure = [&](const char* name) {
    const auto found = spec.rates.find(name);
    return found == spec.rates.end() ? int64_t{-1} : static_cast<int64_t>(found->second);
  };
  first.ahead = std::clamp<int64_t>(figure(rates::kAheadSms), 0, first.sms - 1);
  if (resident == 2)
    first.next_after = {figure(rates::kAheadSecondOfTwo), -1};
  else
    first.next_after = {figure(rates::kAheadSecond), figure(rates::kAheadThird)};
  return first;
}

Dispatched dispatch(const KernelSchedule& schedule, const LaunchShape& launch, const FirstPlaces& first) {
  const std::vector<double> instructions = instructions_along_x(schedule, launch), traced = instructions_of(schedule);
  const std::vector<uint32_t> along_x = trace_along_x(schedule, launch);
  const auto width = static_cast<int64_t>(along_x.size());
  const int64_t total = launch.ctas(), handed = handed_out(launch);
  const auto warps = static_cast<size_t>(launch.warps());
  const bool uneven = warps % kSchedulers != 0;  // otherwise an SM's schedulers have equal work

  std::vector<DispatchedSm> on(static_cast<size_t>(first.sms));
  std::vector<Schedulers> schedulers(on.size());
  size_t most = 0, busiest = 0, longest = 0;  // indices of SMs
  double longest_cta = 0;
  uint32_t longest_trace = 0;
  hand_out(instructions, handed, first, [&](const PlacedCta& placed) {
    const auto x = static_cast<size_t>(placed.cta % width);
    const auto sm = static_cast<size_t>(placed.sm);
    on[sm].ctas.push_back(along_x[x]);
    on[sm].work += instructions[x];
    if (on[sm].work > on[most].work) most = sm;
    if (uneven) schedulers[sm].add(static_cast<size_t>(placed.place), warps, instructions[x]);
    if (schedulers[sm].most > schedulers[busiest].most) busiest = sm;
    const bool longer = instructions[x] > longest_cta;
    if (longer || (instructions[x] == longest_cta && on[sm].work > on[longest].work)) longest = sm;
    if (longer) longest_cta = instructions[x], longest_trace = along_x[x];
  });
  Dispatched out{{on[most]}, double(handed)};
  const bool few_waves = total <= kFewWaves * first.sms * first.resident;
  const bool of_longest = few_waves && longest != most;
  if (uneven && busiest != most && !(of_longest && busiest == longest)) out.sms.push_back(on[busiest]);
  if (of_longest) out.sms.push_back(on[longest]);
  for (DispatchedSm& sm : out.sms) {
    double standing = 0;
    for (const uint32_t trace : sm.ctas) standing += traced[trace];
    if (standing > 0) sm.scale = sm.work / standing;
  }
  const DispatchedSm& with_longest = of_longest ? out.sms.back() : out.sms.front();
  if (few_waves && with_longest.scale < 1 && traced[longest_trace] > 0)
    out.sms.push_back({{longest_trace}, longest_cta, longest_cta / traced[longest_trace]});
  return out;
}

}  // namespace attnscope::model
