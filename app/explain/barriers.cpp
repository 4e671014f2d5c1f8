#include "explain/barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/with_commas.h"
#include "explain/rules.h"

namespace attnscope::explain {

std::vector<BarrierPlace> worth_opening(std::vector<BarrierPlace> places, double time_us) {
  std::erase_if(places, [&](const BarrierPlace& one) {
    return one.place.line <= 0 || one.us < kSilent * time_us || (one.loops && one.passes < kFewestPasses);
  });
  std::ranges::stable_sort(places, std::greater<>(), &BarrierPlace::us);
  return places;
}

Finding needless_barrier(const BarrierPlace& barrier, double time_us, const WithoutBarrier& tried) {
  const double share = time_us > 0 ? barrier.us / time_us : 0;
  const std::string at = fmt::format("{}:{}", barrier.place.file, barrier.place.line);
  const std::string ctas = tried.ctas < tried.total_ctas
                               ? fmt::format("{} of {} CTAs", tried.ctas, with_commas(tried.total_ctas))
                               : fmt::format("all {} CTAs", tried.ctas);
  const std::string sentence = fmt::format(
      "Warps wait {} of the time at the barrier at {}, and nothing that was tried needs it: without it, {} run with no "
      "race and the same output, also in {} other orders of the warps{}. This is evidence for this problem, and no "
      "proof. What helps: {} in line {}.",
      percent(share), at, ctas, tried.orders, tried.other_inputs ? " and with other inputs" : "",
      tried.lanes_wait ? "__syncwarp(), because the lanes of a warp still share data," : "no barrier",
      barrier.place.line);
  Finding finding =
      note(RuleId::barrier_needless, share >= kWarning ? Severity::warning : Severity::info, sentence,
           {modelled("time at this barrier", barrier.us), counted("CTAs tried without it", double(tried.ctas)),
            counted("orders of the warps tried without it", double(tried.orders)),
            counted("sets of inputs tried without it", tried.other_inputs ? 2 : 1)});
  put_place(finding, barrier.place);
  finding.gain = Gain{barrier.us, std::nullopt};
  return finding;
}

}  // namespace attnscope::explain
