#include "worker/fragment_cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "check/known_reference.h"

namespace attnscope::worker {

Result<FragmentCycles> measured_cycles(const Kernel& kernel, const Workload& workload,
                                       std::span<const std::shared_ptr<const check::GuardedBuffer>> outputs,
                                       int64_t ctas) {
  const auto at = check::output_named(workload, kernel.fragment->cycles);
  if (!at || *at >= outputs.size())
    return fail(Stage::internal, "there is no output " + kernel.fragment->cycles, "Report this with the kernel.");
  const auto bytes = outputs[*at]->data();
  std::vector<float> clocks(bytes.size() / sizeof(float));
  std::memcpy(clocks.data(), bytes.data(), clocks.size() * sizeof(float));
  if (std::ssize(clocks) != ctas || clocks.empty())
    return fail(
        Stage::check,
        fmt::format("{}: {} has {} elements for {} CTAs", kernel.id, kernel.fragment->cycles, clocks.size(), ctas),
        "Each CTA has one element.");
  if (!std::ranges::all_of(clocks, [](float one) { return std::isfinite(one) && one > 0; }))
    return fail(Stage::check, kernel.id + ": a CTA wrote no clocks into " + kernel.fragment->cycles,
                "Each CTA writes its clocks of one execution, a number above 0.");
  std::ranges::sort(clocks);
  return FragmentCycles{FigureKind::measured, ctas, clocks.front(), clocks[clocks.size() / 2], clocks.back()};
}

std::optional<FragmentCycles> modelled_cycles(const Kernel& kernel, const Timing& timing, int64_t ctas,
                                              const DeviceSpec& spec) {
  if (ctas > spec.sms || !timing.terms || timing.p50 <= 0) return std::nullopt;
  const auto phase = std::ranges::find(timing.terms->phases, kernel.fragment->function, &Phase::name);
  if (phase == timing.terms->phases.end()) return std::nullopt;
  const double cycles = phase->us * timing.clock_mhz / static_cast<double>(kernel.fragment->executions);
  return FragmentCycles{FigureKind::modelled, ctas, cycles * timing.interval_low / timing.p50, cycles,
                        cycles * timing.interval_high / timing.p50};
}

}  // namespace attnscope::worker
