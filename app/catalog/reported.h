#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/result.h"

namespace attnscope::catalog {

enum class ReportedRole { figure, target };

// A figure quoted from a source: drawn as a labelled reference line, never a point of a series (FigureKind::reported).
struct ReportedFigure {
  std::string id;
  std::string label;   // "M32 W8 V4"
  std::string metric;  // latency, max_abs, slowdown, shared_memory, dram_throughput, warps_active, sm_busy
  double value = 0;
  std::optional<double> high;  // a range's upper end
  std::string unit;            // us, 1, times, KB, %
  ReportedRole role = ReportedRole::figure;
  bool valid = true;                     // a figure of what its label says
  std::string why;                       // why it is not
  std::string source;                    // one sentence
  std::string kernel;                    // id; empty: of no kernel here
  std::map<std::string, int64_t> knobs;  // those that the source names, of that kernel
  // Of the whole file:
  Problem problem;
  std::string device;  // "NVIDIA L4"
  std::string title;   // of the source
};

inline constexpr uint64_t kMaxReportedBytes = 1 << 20;

// assets/reported/*.json. A fault is a Failure (Stage::catalog) that names file and pointer.
Result<std::vector<ReportedFigure>> load_reported(const std::filesystem::path& path);

}  // namespace attnscope::catalog
