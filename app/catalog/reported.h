#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/result.h"

namespace attnscope {
namespace catalog {
enum class ReportedRole { figure, target };
}  // namespace catalog

template <>
struct Words<catalog::ReportedRole> : NamesAsWords<catalog::ReportedRole> {};

namespace catalog {

// A figure quoted from a source: drawn as a labelled reference line, never as a point of a series
// (FigureKind::reported).
struct ReportedFigure {
  std::string id;
  std::string label;   // "M32 W8 V4"
  std::string metric;  // latency, max_abs, slowdown, speedup, shared_memory, dram_throughput, warps_active, sm_busy
  double value = 0;
  std::optional<double> high;  // upper end of a range
  std::string unit;            // us, 1, times, KB, %
  ReportedRole role = ReportedRole::figure;
  bool valid = true;                     // it is what its label says
  std::string why;                       // why it is not valid
  std::string source;                    // one sentence
  std::string kernel;                    // kernel id; empty: not a kernel of this program
  std::map<std::string, int64_t> knobs;  // of that kernel, as far as the source names them
  // For the whole file:
  Problem problem;
  std::string device;  // "NVIDIA L4"
  std::string title;   // of the source
};

inline constexpr uint64_t kMaxReportedBytes = 1 << 20;

// assets/reported/*.json. A fault is a Failure (Stage::catalog) that names file and pointer.
Result<std::vector<ReportedFigure>> load_reported(const std::filesystem::path& path);

}  // namespace catalog
}  // namespace attnscope
