#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "charts/latency_chart.h"
#include "core/device_spec.h"

namespace attnscope::charts {

// A ceiling of a device: a level of arithmetic, or a bandwidth, whose TFLOP/s grow with the intensity.
struct Roof {
  std::string name;  // "Tensor Cores", "DRAM"
  double most = 0;   // TFLOP/s; for a bandwidth GB/s
  bool bandwidth = false;
  bool past_cache = false;  // it applies only to problems that do not fit into the second-level cache
  std::string about;        // one sentence
  double tflops(double intensity) const { return bandwidth ? most * intensity * 1e-3 : most; }
};

struct RooflinePoint {
  uint64_t run = 0;
  double intensity = 0;  // operations per byte that any kernel must move
  double tflops = 0;
  FigureKind kind = FigureKind::modelled;
  bool is_a = false, is_b = false;
  bool faulty = false;
  double share = 0;  // of the lowest roof above it, 0…1
  std::string roof;  // the name of that roof
};

struct Roofline {
  std::vector<Roof> roofs;            // those for which the device's spec has figures
  std::vector<RooflinePoint> points;  // runs on that device, oldest first
  double x_low = 1, x_high = 10;      // operations per byte
  double y_low = 1, y_high = 10;      // TFLOP/s
  std::string why_not;                // why there is no point; empty if there is one
};

// The runs of `chart` on the device, under its ceilings (model::roofs). The intensity is the problem's: its operations
// over its compulsory bytes, so that the kernels and configs of one problem are above each other. `a` and `b` are the
// runs of the baseline and of the shown observation; 0: none.
Roofline roofline(const LatencyChart& chart, const DeviceSpec& spec, uint64_t a, uint64_t b);

}  // namespace attnscope::charts
