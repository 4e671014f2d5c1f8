#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/json_fwd.h"
#include "core/rule.h"
#include "core/term.h"

namespace attnscope {

// The kind of a figure; a series never mixes kinds.
enum class FigureKind { measured, counted, modelled, reported };
template <>
struct Words<FigureKind> : NamesAsWords<FigureKind> {};

struct Versions {
  std::string app, nvrtc, driver, gpu;  // empty: missing
  std::string cublas{};                 // only for a run of its routines: "13.1.0"
  std::string nvcc{};                   // that the machine has, whatever compiled the kernel: "13.0.88"
  bool operator==(const Versions&) const = default;
};

struct SharedBuffer {
  std::string name;
  int64_t bytes = 0;
  bool dynamic = false;
  bool operator==(const SharedBuffer&) const = default;
};

// The part of a Variant that an Observation keeps: the compiler's report.
struct VariantInfo {
  int arch = 0;
  int64_t registers = 0;    // per thread
  int64_t spill_bytes = 0;  // stores + loads, per thread, by ptxas's count
  int64_t stack_bytes = 0;
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_bytes = 0;
  std::vector<SharedBuffer> shared_buffers;
  std::string code_hash;
  std::string compiler{};  // "NVRTC 12.8", "nvcc 13.0.88"; empty: the file holds machine code
  bool cached = false;
  double compile_ms = 0;
  std::string log;
  bool operator==(const VariantInfo&) const = default;
};

// The resource that allows the fewest CTAs per SM.
enum class Limiter { unknown, shared_memory, registers, warps, ctas, barriers };
template <>
struct Words<Limiter> {
  using enum Limiter;
  static constexpr WordTable<Limiter, 6> table{{{unknown, ""},
                                                {shared_memory, "shared memory"},
                                                {registers, "registers"},
                                                {warps, "warps"},
                                                {ctas, "CTAs"},
                                                {barriers, "barriers"}}};
};

struct Occupancy {
  int64_t ctas_per_sm = 0;
  int64_t warps_per_sm = 0;
  double fraction = 0;  // resident warps as a share of the device's warps per SM
  Limiter limiter = Limiter::unknown;
  double waves = 0;  // grid / (ctas_per_sm · SMs)
  int64_t total_ctas = 0;
  int64_t resident_ctas = 0;  // ctas_per_sm · SMs
  int64_t tail_ctas = 0;      // CTAs in the last, partial wave; 0 if it is full
  bool operator==(const Occupancy&) const = default;
};

struct BadElement {
  int64_t batch = 0, head = 0, row = 0, column = 0;
  double expected = 0, got = 0;
  bool operator==(const BadElement&) const = default;
};

enum class VerdictState { unchecked, correct, wrong };
template <>
struct Words<VerdictState> {
  using enum VerdictState;
  static constexpr WordTable<VerdictState, 3> table{{{correct, "correct"}, {wrong, "wrong"}, {unchecked, "unchecked"}}};
};

struct Verdict {
  VerdictState state = VerdictState::unchecked;
  std::string reason;     // one sentence: why it is wrong or unchecked
  int64_t nonfinite = 0;  // elements that are NaN or Inf while the reference is not, or the reverse
  double max_abs = 0;
  double mean_abs = 0;
  double rel_frobenius = 0;
  double cosine = 0;
  double outside_share = 0;  // share of elements outside atol + rtol·|reference|
  double atol = 1e-3, rtol = 1e-3;
  double naive_rel_frobenius = 0;  // of fp32 naive attention that rounds S, P and O to dtype
  double rel_frobenius_limit = 0;  // max(2 × naive, 2^-11)
  int64_t rows_checked = 0;
  int64_t rows_total = 0;
  std::optional<BadElement> first_bad;
  // The kernel whose outputs were the reference; `correct` then means agreement with it. Empty: an fp64 reference.
  std::optional<std::string> against = {};
  bool operator==(const Verdict&) const = default;
};

// stable: the interval is narrow enough; hopeless: every sample was far slower than the time to beat.
enum class Stopped { unknown, stable, time_up, hopeless };
template <>
struct Words<Stopped> {
  using enum Stopped;
  static constexpr WordTable<Stopped, 4> table{
      {{unknown, ""}, {stable, "stable"}, {time_up, "time up"}, {hopeless, "hopeless"}}};
};

// How a timing was measured.
struct Sampling {
  // us. One list for each placement of the buffers in memory, in the order taken, without the dropped samples.
  std::vector<std::vector<double>> rounds;
  Stopped stopped = Stopped::unknown;
  // Samples taken during a thermal or hardware slowdown, or with a clock over 3 % off the run's median.
  int64_t dropped = 0;
  std::optional<double> empty_us;  // cold: the time of an empty kernel, timed in the same way, as the cost of timing
  double power_w = 0, power_limit_w = 0, temperature_c = 0;  // the highest seen; 0: unknown
  std::vector<std::string> reasons;                          // what limited the clock, in NVML's terms: "power cap"
  bool operator==(const Sampling&) const = default;
};

// What limits a time, according to the model: the busiest unit or memory, or the main reason why warps wait.
enum class Bound {
  unknown,
  fp32,
  fp16,
  half_conversions,
  fp64,
  integer,
  integer_multiply,
  mufu,
  conversions,
  tensor_cores,
  shuffles,
  shared_memory,
  l1_lines,
  l2_bandwidth,
  dram_bandwidth,
  atomics,
  issue_slots,
  arithmetic_units,
  instruction_latency,
  global_latency,
  short_latency,
  barriers
};
template <>
struct Words<Bound> {
  using enum Bound;
  static constexpr WordTable<Bound, 22> table{{{unknown, ""},
                                               {fp32, "FP32"},
                                               {fp16, "FP16"},
                                               {half_conversions, "half conversions"},
                                               {fp64, "FP64"},
                                               {integer, "integer"},
                                               {integer_multiply, "integer multiply"},
                                               {mufu, "MUFU"},
                                               {conversions, "conversions"},
                                               {tensor_cores, "Tensor Cores"},
                                               {shuffles, "shuffles"},
                                               {shared_memory, "shared memory"},
                                               {l1_lines, "L1 lines"},
                                               {l2_bandwidth, "L2 bandwidth"},
                                               {dram_bandwidth, "DRAM bandwidth"},
                                               {atomics, "atomics"},
                                               {issue_slots, "issue slots"},
                                               {arithmetic_units, "arithmetic units"},
                                               {instruction_latency, "instruction latency"},
                                               {global_latency, "global memory latency"},
                                               {short_latency, "MUFU and shuffle latency"},
                                               {barriers, "barriers"}}};
};

struct Timing {
  FigureKind kind = FigureKind::modelled;
  double p10 = 0, p50 = 0, p90 = 0;  // us
  // us: 95 % bootstrap interval (measured) or the model's error bar (modelled).
  double interval_low = 0, interval_high = 0;
  int64_t samples = 0;
  CacheState cache = CacheState::hot;
  double clock_mhz = 0;
  Bound bound = Bound::unknown;
  std::optional<Sampling> sampling;  // if measured
  std::optional<Terms> terms;        // if modelled
  bool operator==(const Timing&) const = default;
};

inline constexpr const char* kAllInstructions = "total";  // their sum, among the classes of Counters::instructions

struct Counters {
  FigureKind kind = FigureKind::counted;
  // Share of the grid's CTAs that were emulated. The counts cover only these and are never scaled up.
  double sampled_fraction = 1.0;
  std::map<std::string, int64_t> instructions;  // warp instructions by class, and kAllInstructions
  double active_lanes_mean = 0;
  int64_t threads = 0;  // thread instructions
  int64_t shared_wavefronts = 0;
  int64_t shared_wavefronts_ideal = 0;
  int64_t shared_bank_conflicts = 0;
  int64_t global_load_sectors = 0;
  int64_t global_store_sectors = 0;
  int64_t local_sectors = 0;
  int64_t barriers = 0;  // warp arrivals
  int64_t emulated_ctas = 0;
  int64_t total_ctas = 0;
  bool operator==(const Counters&) const = default;
};

// 0 if it is not known.
inline int64_t all_instructions(const Counters& counters) {
  const auto found = counters.instructions.find(kAllInstructions);
  return found == counters.instructions.end() ? 0 : found->second;
}

// A GPU's own counters for one run of the experiment with hot caches. They are read in a process in which nothing is
// timed. A figure that the GPU's chip does not have is empty, not zero.
struct HardwareCounters {
  FigureKind kind = FigureKind::measured;
  std::string cupti;   // CUPTI's version: "13.0.85"
  int64_t passes = 0;  // how often the run was repeated, because the GPU counts only a few events at a time
  std::optional<double> sm_busy{}, warps_active{}, tensor_busy{}, dram_busy{};  // % of the peak
  std::optional<int64_t> warp_instructions{}, threads{}, shared_wavefronts{};
  std::optional<int64_t> global_load_sectors{}, global_store_sectors{}, local_sectors{};
  std::optional<int64_t> dram_read_bytes{}, dram_write_bytes{};
  std::optional<Failure> failure{};  // why there are none
  bool operator==(const HardwareCounters&) const = default;
};

struct Evidence {
  std::string name;
  double value = 0;
  std::string unit;
  FigureKind kind = FigureKind::counted;
  bool operator==(const Evidence&) const = default;
};

// The clocks per CTA that a microbenchmark's fragment (ClockedFragment) takes for one execution.
struct FragmentCycles {
  FigureKind kind = FigureKind::measured;  // clock64 on a GPU; modelled on an emulated device
  int64_t ctas = 0;
  double low = 0, median = 0, high = 0;  // over the CTAs; if modelled, the ends of the error bar
  bool operator==(const FragmentCycles&) const = default;
};

enum class Severity { info, warning, error };
template <>
struct Words<Severity> : NamesAsWords<Severity> {};

// How much time the cure of a finding saves. Negative: it costs time.
struct Gain {
  std::optional<double> estimated;  // us; an upper limit, if nothing else becomes the bottleneck
  std::optional<double> tried;      // us; measured by running Finding::next on the same device
  bool operator==(const Gain&) const = default;
};

// What to try next.
struct Next {
  std::map<std::string, int64_t> set;  // knob → value
  bool operator==(const Next&) const = default;
};

struct Finding {
  Rule rule;
  Severity severity = Severity::info;
  std::string sentence;
  std::vector<Evidence> evidence;
  std::map<std::string, std::string> where;  // file, line, buffer, element, cta, threads, phase
  std::optional<Gain> gain;
  std::optional<Next> next;
  bool operator==(const Finding&) const = default;
};

// What a watch of the experiment's config found: races, reads of memory that was never written, uneven barriers, absent
// lanes, and outputs that change with the order of the warps or the initial contents of shared memory. May be empty.
struct WatchReport {
  int64_t ctas = 0, total_ctas = 0;  // watched CTAs, and those of the grid
  // Runs with other initial contents of shared memory, and with another order of the warps.
  int64_t fills = 0, orders = 0;
  std::vector<Finding> findings;
  std::vector<Finding> needless;  // no faults: barriers without which the watched runs stay the same
  bool has_errors() const;        // True if a finding has severity "error": a correct output was luck.
  bool operator==(const WatchReport&) const = default;
};

// Lines that the kernel printed, CTA by CTA, as the emulator sees them. A failed assertion prints a line too.
struct Printed {
  static constexpr size_t kMostLines = 256, kMostBytes = 512;  // kMostBytes: per line
  std::vector<std::string> lines;
  int64_t more = 0;  // number of prints beyond kMostLines
  bool operator==(const Printed&) const = default;
};

// One step of a program: a launch, or a memset or copy by the host, which has no variant, occupancy and counters.
struct LaunchFigures {
  std::string name;  // the kernel's entry, "memset sums" or "copy a to b"
  std::optional<VariantInfo> variant;
  std::optional<Occupancy> occupancy;
  std::optional<Timing> timing;  // modelled; a GPU measures only the whole program
  std::optional<Counters> counters;
  bool operator==(const LaunchFigures&) const = default;
};

// The index of the launch that takes most of a program's modelled time; of the first launch while no time is known;
// empty if there are no launches. Observation::variant and ::occupancy belong to this launch.
std::optional<size_t> longest_launch(const std::vector<LaunchFigures>& launches);

// A program's counters: the sums over its launches, with the emulated share of all their CTAs. Empty if a launch has
// none.
std::optional<Counters> sum_of_counters(const std::vector<LaunchFigures>& launches);
// A program's modelled time: the sum over its steps, each with its launch cost. Its bound is the one that covers most
// of the time. Empty if a step has no time.
std::optional<Timing> sum_of_timings(const std::vector<LaunchFigures>& launches);

// The result of an experiment. Small; kept for ever. A part is absent if the run did not reach it.
struct Observation {
  Experiment experiment;
  std::string hash;  // hash_of(experiment)
  Versions versions;
  std::string device;  // DeviceSpec::id
  std::optional<VariantInfo> variant;
  std::optional<Occupancy> occupancy;
  std::optional<Verdict> verdict;
  std::optional<Timing> timing;
  std::optional<double> tflops;
  std::optional<Counters> counters;
  // The steps of a program, in order; otherwise empty. `variant` and `occupancy` are then those of the longest launch
  // (longest_launch), with a code hash over all launches, and `timing` and `counters` cover all steps.
  std::vector<LaunchFigures> launches;
  std::vector<Finding> findings;
  std::optional<WatchReport> watch;
  std::optional<Printed> printed;
  std::optional<HardwareCounters> hardware;       // only if requested by `attnscope counters`
  std::optional<FragmentCycles> fragment_cycles;  // only for a microbenchmark
  std::optional<Failure> failure;
  bool operator==(const Observation&) const = default;
};

// In the form that docs/observation.schema.json describes: null for a part that was not reached. Every key but
// `launches`, `hardware` and `fragment_cycles` is always present.
Json to_json(const Observation& observation);
Result<Observation> observation_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
