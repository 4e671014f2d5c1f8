#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "explain/facts.h"
#include "explain/rules.h"

namespace attnscope::explain {

inline constexpr double kTime = 100;  // us

// The lines of the kernel below that do each kind of work.
inline constexpr int kLoad = 10, kScore = 20, kWait = 25, kSum = 30, kStore = 40;

// A kernel, a device and a run about which no rule reports a warning: 96 CTAs of four warps on 48 SMs, most of the time
// is issue, and the rest is spread thin.
struct Input {
  Kernel kernel;
  DeviceSpec spec;
  Facts facts{.kernel = kernel, .spec = spec};

  Input() {
    kernel.id = "made_up";
    kernel.source_name = "made_up.cu";
    kernel.source =
        "#ifndef ROWS\n#define ROWS 32\n#endif\n__device__ int helped(int i) { return i; }\n"
        "__global__ void made_up(int* out) { out[helped(threadIdx.x)] = ROWS; }\n";
    kernel.knobs = {{"ROWS", {{16, ""}, {32, ""}, {64, ""}}, 32, ""}};
    kernel.launch.grid[0] = "seq_q / ROWS";
    kernel.launch.grid[1] = kernel.launch.grid[2] = "1";
    kernel.launch.block[0] = "128";
    kernel.launch.block[1] = kernel.launch.block[2] = "1";
    kernel.launch.static_shared = "320 * ROWS";
    kernel.supports = {{DType::f16, DType::f32}, {64}, {Causal::none}};
    spec.id = "emulated:test";
    spec.arch = 89;
    spec.sms = 48;
    spec.shared_static_block = 49152;
    spec.shared_optin_block = 101376;
    spec.shared_sm = 102400;
    spec.shared_reserved_block = 1024;
    spec.warps_sm = 48;
    spec.ctas_sm = 24;
    spec.registers_sm = spec.registers_block = 65536;
    spec.clock_mhz = 2000;
    spec.tensor_tflops_f16 = 100;
    facts.shape = {{96, 1, 1}, {128, 1, 1}};
    Observation& seen = facts.seen;
    seen.experiment.kernel = kernel.id;
    seen.experiment.config.knobs = {{"ROWS", 32}};
    Problem& problem = seen.experiment.problem;
    problem.seq_q = problem.seq_k = 3072;
    problem.heads = problem.kv_heads = 1;
    problem.dtype = DType::f32;
    VariantInfo& variant = seen.variant.emplace();
    variant.registers = 40;
    variant.static_shared_bytes = 10240;
    variant.code_hash = "c0de";
    seen.occupancy = Occupancy{12, 48, 1.0, Limiter::warps, 96.0 / 576, 96, 576, 96};
    Timing& timing = seen.timing.emplace();
    timing.p50 = kTime;
    timing.clock_mhz = 2000;
    Counters& counters = seen.counters.emplace();
    counters.emulated_ctas = counters.total_ctas = 96;
    facts.distinct_bytes = 1e6;
    add(model::Unit::global_load, kLoad, "load", {.bytes = 1e6, .requests = 2000, .sectors = 31250, .lines = 7812});
    add(model::Unit::shared_load, kScore, "score", {.wavefronts = 10000, .ideal = 10000});
    add(model::Unit::barrier, kWait, "score", {});
    add(model::Unit::fp32, kSum, "sum", {});
    add(model::Unit::global_store, kStore, "sum", {.bytes = 1e5, .requests = 200, .sectors = 3125, .lines = 782});
    stall(TermKind::issue, kLoad, 25);
    stall(TermKind::issue, kScore, 30);
    stall(TermKind::issue, kSum, 35);
    stall(TermKind::instruction_latency, kSum, 2.5);
    stall(TermKind::global_latency, kLoad, 1.5, kScore);
    stall(TermKind::shared_latency, kScore, 1.5, kSum);
    stall(TermKind::barriers, kWait, 1.5);
    stall(TermKind::launch, 0, 3);
    for (const char* phase : {"load", "score", "sum"}) facts.warps[phase] = {100, 100, 100, 100};
  }
  Input(const Input&) = delete;

  Instruction& at(int line) {
    for (Instruction& one : facts.code)
      if (one.line == line) return one;
    return facts.code.front();
  }
  // Another instruction of a line, whose issue takes `us`.
  void add(model::Unit unit, int line, double us = 0) {
    add(unit, line, at(line).phase, {});
    const auto last = static_cast<uint32_t>(facts.code.size() - 1);
    if (us > 0) facts.stalls.push_back({TermKind::issue, last, last, us});
  }
  // The estimate, its correction and the two conversions that an integer division compiles to.
  void divide(int line, double us) {
    for (const model::Unit unit : {model::Unit::conversion, model::Unit::mufu, model::Unit::conversion})
      add(unit, line, us / 10);
    for (int i = 0; i < 2; ++i) add(model::Unit::imad, line, us / 10);
    for (int i = 0; i < 5; ++i) add(model::Unit::integer, line, us / 10);
  }
  // Adds time to what is there.
  void stall(TermKind term, int line, double us, int consumer = 0) {
    const auto index = [&](int wanted) {
      for (uint32_t i = 0; i < facts.code.size(); ++i)
        if (facts.code[i].line == wanted) return i;
      return model::Stall::kNone;
    };
    facts.stalls.push_back({term, index(line), index(consumer == 0 ? line : consumer), us});
  }

 private:
  void add(model::Unit unit, int line, std::string phase, Instruction did) {
    did.file = kernel.source_name;
    did.line = line;
    did.phase = std::move(phase);
    did.unit = unit;
    did.issued = 10000;
    did.lanes = 320000;
    facts.code.push_back(std::move(did));
  }
};

// What one rule finds by itself, without what helps.
inline std::optional<Finding> look(RuleId id, const Facts& facts) {
  const auto rules = all_rules();
  return std::ranges::find(rules, id, &RuleOf::id)->look(facts);
}

}  // namespace attnscope::explain
