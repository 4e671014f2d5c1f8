#include "sweep/twin.h"

#include <algorithm>

namespace attnscope::sweep {
namespace {

constexpr double kEmulatedFlops = 6e8;  // about half a second for a scalar kernel on two cores
constexpr double kLeast = 1e-6;
constexpr double kToRank = 0.02;

}  // namespace

double emulated_share(const Problem& problem) { return std::clamp(kEmulatedFlops / problem.flops(), kLeast, 1.0); }

double ranking_share(const Problem& problem) { return std::max(kLeast, kToRank * emulated_share(problem)); }

Result<DeviceSpec> emulated_twin(const DeviceSpec& gpu, const std::string& id, const std::vector<DeviceSpec>& known) {
  std::string ids;
  for (const DeviceSpec& spec : known) {
    if (id.empty() ? spec.name == gpu.name : spec.id == id) return spec;
    if (spec.arch == gpu.arch) ids += (ids.empty() ? "" : ", ") + spec.id;
  }
  if (!id.empty()) return fail(Stage::input, "there is no emulated device " + id, "`attnscope devices` lists them.");
  return fail(Stage::input, "no emulated device is a " + gpu.name + ", so there is no model of it",
              ids.empty() ? "Write its figures: docs/model.md, Rates."
                          : "Name one of the same architecture with --model (" + ids + "), or write its figures.");
}

}  // namespace attnscope::sweep
