#include "charts/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/ceilings.h"
#include "model/roofline.h"

namespace attnscope::charts {
namespace {

std::vector<Roof> roofs_of(const DeviceSpec& spec) {
  const model::Roofs most = model::roofs(spec);
  std::vector<Roof> roofs;
  const auto add = [&](const char* name, double figure, bool bandwidth, std::string about) {
    if (figure > 0) roofs.push_back({name, figure, bandwidth, false, std::move(about)});
  };
  add("Tensor Cores", most.tensor_tflops, false,
      fmt::format("{:.4g} TFLOP/s: products of halves at the data sheet's rate.", most.tensor_tflops));
  add("FP32", most.fp32_tflops, false,
      fmt::format("{:.4g} TFLOP/s: one FFMA a lane and clock on every SM.", most.fp32_tflops));
  add("L2", most.l2_gbs, true,
      fmt::format("{:.4g} GB/s from the second-level cache: each byte passes it once at least.", most.l2_gbs));
  add("DRAM", most.dram_gbs, true,
      fmt::format("{:.4g} GB/s. It binds only a problem that does not fit into the second-level cache of {:.4g} MB.",
                  most.dram_gbs, spec.l2_mb));
  if (most.dram_gbs > 0) roofs.back().past_cache = true;
  return roofs;
}

// Finds the roofs that apply to a problem of that many bytes.
void place_under(RooflinePoint& point, const std::vector<Roof>& roofs, const DeviceSpec& spec, double bytes) {
  double lowest = 0;
  for (const Roof& roof : roofs) {
    const bool binds = !roof.past_cache || model::dram_us(spec, bytes) > 0;
    // A lower level of arithmetic is not a bound, because another unit may do the same work.
    const bool is_lower_level = !roof.bandwidth && roof.most < roofs.front().most;
    const double there = roof.tflops(point.intensity);
    if (!binds || is_lower_level || (lowest > 0 && there >= lowest)) continue;
    lowest = there;
    point.roof = roof.name;
  }
  if (lowest > 0) point.share = point.tflops / lowest;
}

}  // namespace

Roofline roofline(const LatencyChart& chart, const DeviceSpec& spec, uint64_t a, uint64_t b) {
  Roofline out;
  out.roofs = roofs_of(spec);
  bool on_device = false;
  for (const LatencyColumn& column : chart.columns) {
    if (column.state != ColumnState::timed || column.device != spec.id) continue;
    on_device = true;
    const Problem& problem = column.observation->experiment.problem;
    const double bytes = model::compulsory_bytes(problem), tflops = model::tflops(problem, column.p50);
    if (bytes <= 0 || tflops <= 0) continue;
    RooflinePoint point{column.run,
                        problem.flops() / bytes,
                        tflops,
                        column.kind,
                        column.run == a,
                        column.run == b,
                        column.headline && is_fault(*column.headline),
                        0,
                        {}};
    place_under(point, out.roofs, spec, bytes);
    out.points.push_back(std::move(point));
  }
  if (out.points.empty()) {
    out.why_not = on_device ? "No convention gives the operations and bytes of this problem."
                            : "No run on " + spec.name + " has a time yet.";
    return out;
  }
  const auto [left, right] = std::ranges::minmax(out.points, {}, &RooflinePoint::intensity);
  out.x_low = left.intensity / 8;
  out.x_high = right.intensity * 4;
  out.y_low = std::ranges::min(out.points, {}, &RooflinePoint::tflops).tflops / 3;
  double highest = std::ranges::max(out.points, {}, &RooflinePoint::tflops).tflops;
  for (const Roof& roof : out.roofs)
    if (!roof.bandwidth) highest = std::max(highest, roof.most);
  out.y_high = highest * 2;
  return out;
}

}  // namespace attnscope::charts
