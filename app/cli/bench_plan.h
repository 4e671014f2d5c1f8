#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/kernel.h"
#include "report/bench_run.h"
#include "report/tuned.h"
#include "session/session.h"

namespace attnscope {
namespace cli {
enum class BenchCaches { hot, cold, both };
}  // namespace cli

template <>
struct Words<cli::BenchCaches> : NamesAsWords<cli::BenchCaches> {};

namespace cli {

// The arguments of `attnscope bench`.
struct BenchWishes {
  std::vector<std::string> problems;  // B=1,H=8,…; empty: the default set
  std::vector<Problem> of_problems;   // instead of `problems`, if there are any
  std::vector<std::string> kernels;   // ID or ID:KNOB=VALUE,…; empty: every kernel with a source
  std::vector<std::string> peers;     // as in `kernels`; empty: every backend of torch if the device is a GPU
  std::string baseline;               // one of the kernels, with the same text; empty: none
  BenchCaches caches = BenchCaches::hot;
  bool without_peers = false;
  bool defaults = false;  // uses the manifests' default configs instead of tuned ones
  bool quick = false;
};

// "ID" or "ID:KNOB=VALUE,KNOB=VALUE". `option` names the option in a refusal.
struct NamedConfig {
  Kernel kernel;
  std::map<std::string, int64_t> knobs;  // the named ones
  std::string label;                     // "tiled NUM_WARPS=8"
};
Result<NamedConfig> named_config(const std::string& text, const std::vector<Kernel>& kernels,
                                 const std::string& option);

// A plan and the session's request for each of its cells.
struct BenchTasks {
  report::BenchPlan plan;
  std::vector<std::vector<Draft>> drafts;  // [row][entry]
  std::vector<Kernel> kernels;             // for each entry
};

// A name that is not in `kernels`, or a knob that a kernel does not have, is a Failure (Stage::input).
Result<BenchTasks> plan_bench(const BenchWishes& wishes, const std::vector<Kernel>& kernels,
                              const std::vector<report::TunedTable>& tuned, const DeviceSpec& device,
                              const Versions& versions);

// Parses the problems; the default set if there are no texts.
Result<std::vector<Problem>> bench_problems(std::vector<std::string> texts);

}  // namespace cli
}  // namespace attnscope
