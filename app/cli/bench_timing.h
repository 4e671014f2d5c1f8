#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/bench_plan.h"
#include "cli/worker_options.h"
#include "report/bench_report.h"
#include "report/bench_run.h"

namespace attnscope::cli {

// What a benchmark times, and where.
struct BenchTiming {
  std::string command = "bench";  // named in its notes
  BenchWishes wishes;
  std::string device;
  WorkerOptions workers;
  std::vector<std::string> kernel_dirs, tuned_dirs;
  bool fresh = false;
  double within = 0;  // seconds; 0: no limit
};

// Adds --device, --kernels, --worker, --cache, --tuned, --defaults, --quick, --fresh and --within.
void add_timing_options(CLI::App& command, BenchTiming& timing);

// A finished benchmark, its samples, and the file where they were saved.
struct TimedBench {
  report::BenchReport report;
  report::BenchState state;
  std::vector<Kernel> kernels;       // for each entry
  std::filesystem::path state_file;  // to be removed when the report is written; empty if the benchmark ended early
};

// Runs the benchmark, or continues an interrupted run of the same plan. Progress goes to stderr.
Result<TimedBench> time_bench(const BenchTiming& timing);

}  // namespace attnscope::cli
