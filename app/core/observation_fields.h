#pragma once
#include "core/fields.h"
#include "core/hardware_fields.h"
#include "core/observation.h"
#include "core/rule.h"

namespace attnscope {

// The fields of an Observation's parts. A test keeps docs/observation.schema.json equal to them.

namespace limits {
inline constexpr Limits kCount{.low = 0};
inline constexpr Limits kShare{.low = 0, .high = 1};
inline constexpr Limits kUs{.low = 0, .high = 1e15};  // about thirty years
inline constexpr Limits kSaved{.low = -1e15, .high = 1e15};
inline constexpr Limits kMhz{.low = 0, .high = 1e6};
inline constexpr Limits kWatts{.low = 0, .high = 1e6};
inline constexpr Limits kOpen{.open = true};
inline constexpr Limits kLog{.bytes = 16 << 20};
// The number of rounds, and of samples in a round.
inline constexpr Limits kSamples{.low = 0, .high = 1e15, .most = 10000};
inline constexpr Limits kReasons{.most = 64};
inline constexpr Limits kEvidence{.most = 256};
inline constexpr Limits kTerms{.most = 64};
inline constexpr Limits kPrinted{.most = Printed::kMostLines, .bytes = Printed::kMostBytes};
inline constexpr Limits kRequired{.required = true};
}  // namespace limits

template <>
struct FieldsOf<Versions> {
  static constexpr auto list =
      std::tuple{Field{"app", &Versions::app}, Field{"nvrtc", &Versions::nvrtc},   Field{"driver", &Versions::driver},
                 Field{"gpu", &Versions::gpu}, Field{"cublas", &Versions::cublas}, Field{"nvcc", &Versions::nvcc}};
};

template <>
struct FieldsOf<SharedBuffer> {
  static constexpr auto list =
      std::tuple{Field{"name", &SharedBuffer::name}, Field{"bytes", &SharedBuffer::bytes, limits::kCount},
                 Field{"dynamic", &SharedBuffer::dynamic}};
};

template <>
struct FieldsOf<VariantInfo> {
  static constexpr auto list = std::tuple{
      Field{"arch", &VariantInfo::arch, Limits{.low = 0, .high = 1000}, "compute capability x 10"},
      Field{"registers", &VariantInfo::registers, limits::kCount, "per thread"},
      Field{"spill_bytes", &VariantInfo::spill_bytes, limits::kCount},
      Field{"stack_bytes", &VariantInfo::stack_bytes, limits::kCount},
      Field{"static_shared_bytes", &VariantInfo::static_shared_bytes, limits::kCount},
      Field{"dynamic_shared_bytes", &VariantInfo::dynamic_shared_bytes, limits::kCount},
      Field{"shared_buffers", &VariantInfo::shared_buffers},
      Field{"code_hash", &VariantInfo::code_hash, {}, "equal for equal machine code"},
      Field{"compiler", &VariantInfo::compiler, {}, "NVRTC or nvcc with its version; empty for a file of machine code"},
      Field{"cached", &VariantInfo::cached},
      Field{"compile_ms", &VariantInfo::compile_ms, limits::kUs},
      Field{"log", &VariantInfo::log, limits::kLog}};
};

template <>
struct FieldsOf<Occupancy> {
  static constexpr auto list =
      std::tuple{Field{"ctas_per_sm", &Occupancy::ctas_per_sm, limits::kCount},
                 Field{"warps_per_sm", &Occupancy::warps_per_sm, limits::kCount},
                 Field{"fraction", &Occupancy::fraction, limits::kShare, "of the device's warps per SM"},
                 Field{"limiter", &Occupancy::limiter},
                 Field{"waves", &Occupancy::waves, limits::kCount, "grid / (CTAs per SM x SMs)"},
                 Field{"total_ctas", &Occupancy::total_ctas, limits::kCount},
                 Field{"resident_ctas", &Occupancy::resident_ctas, limits::kCount},
                 Field{"tail_ctas", &Occupancy::tail_ctas, limits::kCount, "CTAs in the last, partial wave"}};
};

template <>
struct FieldsOf<BadElement> {
  static constexpr auto list = std::tuple{
      Field{"batch", &BadElement::batch, limits::kCount},      Field{"head", &BadElement::head, limits::kCount},
      Field{"row", &BadElement::row, limits::kCount},          Field{"column", &BadElement::column, limits::kCount},
      Field{"expected", &BadElement::expected, limits::kOpen}, Field{"got", &BadElement::got, limits::kOpen}};
};

template <>
struct FieldsOf<Verdict> {
  static constexpr auto list = std::tuple{Field{"state", &Verdict::state},
                                          Field{"reason", &Verdict::reason},
                                          Field{"nonfinite", &Verdict::nonfinite, limits::kCount,
                                                "positions of NaN or Inf that differ from the reference's"},
                                          Field{"max_abs", &Verdict::max_abs, limits::kOpen},
                                          Field{"mean_abs", &Verdict::mean_abs, limits::kOpen},
                                          Field{"rel_frobenius", &Verdict::rel_frobenius, limits::kOpen},
                                          Field{"cosine", &Verdict::cosine, limits::kOpen},
                                          Field{"outside_share", &Verdict::outside_share, limits::kShare,
                                                "share of elements outside atol + rtol*|reference|"},
                                          Field{"atol", &Verdict::atol, limits::kCount},
                                          Field{"rtol", &Verdict::rtol, limits::kCount},
                                          Field{"naive_rel_frobenius", &Verdict::naive_rel_frobenius, limits::kOpen},
                                          Field{"rel_frobenius_limit", &Verdict::rel_frobenius_limit, limits::kOpen},
                                          Field{"rows_checked", &Verdict::rows_checked, limits::kCount},
                                          Field{"rows_total", &Verdict::rows_total, limits::kCount},
                                          Field{"first_bad", &Verdict::first_bad},
                                          Field{"against", &Verdict::against, Limits{.bytes = 4096, .sparse = true},
                                                "another kernel, whose outputs were the reference: correct means "
                                                "agreement with it; left out where the reference is fp64"}};
};

template <>
struct FieldsOf<Sampling> {
  static constexpr auto list =
      std::tuple{Field{"rounds", &Sampling::rounds, limits::kSamples,
                       "us; one list for each placement of the buffers in memory, in the order taken"},
                 Field{"stopped", &Sampling::stopped},
                 Field{"dropped", &Sampling::dropped, limits::kCount,
                       "samples left out: thermal or hardware slowdown, or a clock over 3 % off the run's median"},
                 Field{"empty_us", &Sampling::empty_us, limits::kUs, "cold: an empty kernel timed in the same way"},
                 Field{"power_w", &Sampling::power_w, limits::kWatts},
                 Field{"power_limit_w", &Sampling::power_limit_w, limits::kWatts},
                 Field{"temperature_c", &Sampling::temperature_c},
                 Field{"reasons", &Sampling::reasons, limits::kReasons, "what held the clock back, in NVML's words"}};
};

template <>
struct FieldsOf<TermLine> {
  static constexpr auto list =
      std::tuple{Field{"address", &TermLine::address, limits::kCount, "bytes from the kernel's first instruction"},
                 Field{"source", &TermLine::source, {}, "file:line; empty: not known"},
                 Field{"us", &TermLine::us, limits::kUs},
                 Field{"waiting_address", &TermLine::waiting_address, limits::kCount,
                       "of the instruction that waits for it longest; itself where it issues"},
                 Field{"waiting_source", &TermLine::waiting_source},
                 Field{"launch", &TermLine::launch, Limits{.low = 0, .high = 63, .sparse = true},
                       "of a program: the index in `launches`; left out elsewhere"}};
};

template <>
struct FieldsOf<Term> {
  static constexpr auto list = std::tuple{
      Field{"kind", &Term::kind}, Field{"us", &Term::us, limits::kUs},
      Field{"lines", &Term::lines, Limits{.most = Term::kMostLines}, "those that carry most, longest first"}};
};

template <>
struct FieldsOf<PhaseTerm> {
  static constexpr auto list = std::tuple{Field{"kind", &PhaseTerm::kind}, Field{"us", &PhaseTerm::us, limits::kUs}};
};

template <>
struct FieldsOf<Phase> {
  static constexpr auto list =
      std::tuple{Field{"name", &Phase::name, {}, "a function of the source, with the loop where it has one"},
                 Field{"us", &Phase::us, limits::kUs}, Field{"terms", &Phase::terms, limits::kTerms}};
};

template <>
struct FieldsOf<Terms> {
  static constexpr auto list =
      std::tuple{Field{"list", &Terms::list, limits::kTerms, "longest first; they sum to the time"},
                 Field{"phases", &Terms::phases, {}, "pieces of the source, longest first; they sum to the time"},
                 Field{"missing", &Terms::missing, {}, "why there are none; else empty"}};
};

template <>
struct FieldsOf<Timing> {
  static constexpr auto list = std::tuple{
      Field{"kind", &Timing::kind},
      Group{"us", std::tuple{Field{"p10", &Timing::p10, limits::kUs}, Field{"p50", &Timing::p50, limits::kUs},
                             Field{"p90", &Timing::p90, limits::kUs}}},
      Ends<Timing>{"interval", &Timing::interval_low, &Timing::interval_high, limits::kUs,
                   "us; measured: 95 % bootstrap interval of the median; modelled: the model's error bar"},
      Field{"samples", &Timing::samples, limits::kCount},
      Field{"cache", &Timing::cache},
      Field{"clock_mhz", &Timing::clock_mhz, limits::kMhz},
      Field{"bound",
            &Timing::bound,
            {},
            "of a modelled time; \"MUFU and shuffle latency\" has the waits for constants too"},
      Field{"sampling", &Timing::sampling, {}, "how a measured timing came about; null for a modelled one"},
      Field{"terms", &Timing::terms, {}, "how a modelled time splits; null for a measured one"}};
};

// A counter's place in tables, and what the table shows with it.
enum class CounterGroup { lanes, shared_memory, global_memory };
enum class Beside { nothing, of_a_warp, without_conflicts, share_of_wavefronts, bytes_of_sectors };
struct CounterRow {
  CounterGroup group;
  std::string_view label, term;  // `term` is the glossary's
  Beside beside = Beside::nothing;
  std::string_view compared = {};  // its name in comparisons; empty: it is not compared
};

template <>
struct FieldsOf<Counters> {
  using Group = CounterGroup;
  static constexpr auto list = std::tuple{
      Field{"kind", &Counters::kind},
      Field{"sampled_fraction", &Counters::sampled_fraction, limits::kShare},
      Field{"instructions", &Counters::instructions, limits::kCount, "warp instructions by class"},
      Shown{Field{"threads", &Counters::threads, limits::kCount, "thread instructions"},
            CounterRow{Group::lanes, "thread instructions", "thread instructions"}},
      Shown{Field{"active_lanes_mean", &Counters::active_lanes_mean, Limits{.low = 0, .high = 32}},
            CounterRow{Group::lanes, "active lanes, mean", "lane", Beside::of_a_warp}},
      Shown{Field{"barriers", &Counters::barriers, limits::kCount, "warp arrivals"},
            CounterRow{Group::lanes, "barrier arrivals", "barrier"}},
      Shown{Field{"shared_wavefronts", &Counters::shared_wavefronts, limits::kCount},
            CounterRow{Group::shared_memory, "wavefronts", "wavefront"}},
      Shown{Field{"shared_wavefronts_ideal", &Counters::shared_wavefronts_ideal, limits::kCount},
            CounterRow{Group::shared_memory, "wavefronts, ideal", "wavefront", Beside::without_conflicts}},
      Shown{Field{"shared_bank_conflicts", &Counters::shared_bank_conflicts, limits::kCount},
            CounterRow{Group::shared_memory, "bank conflicts", "bank conflict", Beside::share_of_wavefronts,
                       "bank conflicts"}},
      Shown{Field{"global_load_sectors", &Counters::global_load_sectors, limits::kCount},
            CounterRow{Group::global_memory, "load sectors", "global load sectors", Beside::bytes_of_sectors,
                       "global load sectors"}},
      Shown{Field{"global_store_sectors", &Counters::global_store_sectors, limits::kCount},
            CounterRow{Group::global_memory, "store sectors", "global store sectors", Beside::bytes_of_sectors}},
      Shown{Field{"local_sectors", &Counters::local_sectors, limits::kCount},
            CounterRow{Group::global_memory, "local sectors", "local sectors"}},
      Field{"emulated_ctas", &Counters::emulated_ctas, limits::kCount},
      Field{"total_ctas", &Counters::total_ctas, limits::kCount}};
};

// Calls visit(row, member) for each counter that has a row, in table order.
template <class Visit>
void for_each_counter(Visit visit) {
  for_each_field(FieldsOf<Counters>::list, [&](const auto& field) {
    if constexpr (requires { field.row; }) visit(field.row, field.member);
  });
}

template <>
struct FieldsOf<LaunchFigures> {
  static constexpr auto list = std::tuple{
      Field{"name", &LaunchFigures::name, Limits{.bytes = 1200}, "the kernel's entry, \"memset x\" or \"copy a to b\""},
      Field{"variant", &LaunchFigures::variant}, Field{"occupancy", &LaunchFigures::occupancy},
      Field{"timing", &LaunchFigures::timing, {}, "modelled, also where a GPU measured the whole program"},
      Field{"counters", &LaunchFigures::counters}};
};

template <>
struct FieldsOf<Evidence> {
  static constexpr auto list = std::tuple{Field{"name", &Evidence::name}, Field{"value", &Evidence::value},
                                          Field{"unit", &Evidence::unit}, Field{"kind", &Evidence::kind}};
};

template <>
struct FieldsOf<Gain> {
  static constexpr auto list = std::tuple{
      Field{"estimated", &Gain::estimated, limits::kSaved, "us saved, if nothing else gets in the way"},
      Field{"tried", &Gain::tried, limits::kSaved, "us saved by `next`, run on the same device; negative: it costs"}};
};

template <>
struct FieldsOf<Next> {
  static constexpr auto list = std::tuple{Field{"set", &Next::set, {}, "knob and value"}};
};

template <>
struct FieldsOf<Finding> {
  static constexpr auto list = std::tuple{Field{"rule", &Finding::rule},
                                          Field{"severity", &Finding::severity},
                                          Field{"sentence", &Finding::sentence},
                                          Field{"evidence", &Finding::evidence, limits::kEvidence},
                                          Field{"where", &Finding::where},
                                          Field{"gain", &Finding::gain, {}, "what a cure saves; null: not known"},
                                          Field{"next", &Finding::next, {}, "what to try; null: nothing is known"}};
  // A key that follows from the rule. It is written, and a reader passes over it.
  struct Derived {
    const char* key;
    FindingGroup (*of)(const Rule&);
    std::string_view about;
  };
  static constexpr Derived derived{"group", [](const Rule& rule) { return rule.group(); },
                                   "what it is about; follows from the rule"};
  static void finish(Json& json, const Finding& finding) { json[derived.key] = word_of(derived.of(finding.rule)); }
  // Older files have "est_gain_us" instead of a gain, and "next" with an empty "set".
  static void check(JsonReader& reader, Finding& out) {
    reader.ignore(derived.key);
    double saved = 0;
    if (reader.has("est_gain_us")) {
      reader.number("est_gain_us", saved, limits::kSaved.low, limits::kSaved.high);
      if (!out.gain) out.gain = Gain{saved, std::nullopt};
    }
    if (out.next && out.next->set.empty()) out.next.reset();
  }
};

template <>
struct FieldsOf<WatchReport> {
  static constexpr auto list =
      std::tuple{Field{"ctas", &WatchReport::ctas, limits::kCount, "watched"},
                 Field{"total_ctas", &WatchReport::total_ctas, limits::kCount, "of the grid"},
                 Field{"fills", &WatchReport::fills, limits::kCount,
                       "runs that filled shared memory with other values at the start"},
                 Field{"orders", &WatchReport::orders, limits::kCount, "runs in another order of the warps"},
                 Field{"findings", &WatchReport::findings},
                 Field{"needless", &WatchReport::needless, Limits{.sparse = true},
                       "no faults: barriers without which the watched runs stay the same"}};
};

template <>
struct FieldsOf<Printed> {
  static constexpr auto list =
      std::tuple{Field{"lines", &Printed::lines, limits::kPrinted}, Field{"more", &Printed::more, limits::kCount}};
};

template <>
struct FieldsOf<Overrun> {
  static constexpr auto list = std::tuple{Field{"buffer", &Overrun::buffer, Limits{.line = true}},
                                          Field{"bytes", &Overrun::bytes, {}, "the buffer's size"},
                                          Field{"past", &Overrun::past, {}, "bytes from its end to the access"}};
};

template <>
struct FieldsOf<Failure> {
  static constexpr auto list =
      std::tuple{Field{"stage", &Failure::stage, limits::kRequired},
                 Field{"message", &Failure::message},
                 Field{"hint", &Failure::hint},
                 Field{"kind", &Failure::kind, Limits{.sparse = true}, "left out where the stage says enough"},
                 Field{"overrun", &Failure::overrun, Limits{.sparse = true}, "an emulated access past a buffer's end"},
                 Field{"absent_variable", &Failure::absent_variable, Limits{.sparse = true},
                       "a __constant__ one that the compiled kernel does not have"}};
};

template <>
struct FieldsOf<FragmentCycles> {
  static constexpr auto list =
      std::tuple{Field{"kind", &FragmentCycles::kind}, Field{"ctas", &FragmentCycles::ctas, limits::kCount},
                 Field{"low", &FragmentCycles::low, limits::kCount},
                 Field{"median", &FragmentCycles::median, limits::kCount, "clocks of one execution, over the CTAs"},
                 Field{"high", &FragmentCycles::high, limits::kCount}};
};

// Everything but the experiment and its hash: the parts that a worker streams.
template <>
struct FieldsOf<Observation> {
  static constexpr auto list = std::tuple{
      Field{"versions", &Observation::versions},
      Field{"device", &Observation::device, Limits{.bytes = 200}},
      Field{"variant", &Observation::variant},
      Field{"occupancy", &Observation::occupancy},
      Field{"verdict", &Observation::verdict},
      Field{"timing", &Observation::timing},
      Field{"tflops", &Observation::tflops},
      Field{"counters", &Observation::counters},
      Field{"launches", &Observation::launches, Limits{.most = 64, .sparse = true},
            "of a program: its steps in order; `variant` and `occupancy` are those of the longest launch, `timing` and "
            "`counters` of all; left out where there is one launch"},
      Field{"findings", &Observation::findings},
      Field{"watch", &Observation::watch, {}, "what a watch of the config saw (docs/emulator.md, Watches)"},
      Field{"printed",
            &Observation::printed,
            {},
            "what the kernel's printf wrote in the emulator, CTA by CTA; `more` counts the calls after those"},
      Field{"hardware", &Observation::hardware, Limits{.sparse = true},
            "what the GPU's own counters say of one run, by `attnscope counters` (docs/measuring.md); left out "
            "elsewhere"},
      Field{
          "fragment_cycles", &Observation::fragment_cycles, Limits{.sparse = true},
          "what a microbenchmark's fragment takes a CTA, by `attnscope micro` (docs/sweeping.md); left out elsewhere"},
      Field{"failure", &Observation::failure}};
};

// The readers and writers of an Observation's members are compiled in observation.cpp and nowhere else: in each
// source that reads or writes a member they would take seconds.
#define ATTNSCOPE_OBSERVATION_MEMBERS(EACH) \
  EACH(Versions)                            \
  EACH(std::optional<VariantInfo>)          \
  EACH(std::optional<Occupancy>)            \
  EACH(std::optional<Verdict>)              \
  EACH(std::optional<Timing>)               \
  EACH(std::optional<Counters>)             \
  EACH(std::vector<LaunchFigures>)          \
  EACH(std::vector<Finding>)                \
  EACH(std::optional<WatchReport>)          \
  EACH(std::optional<Printed>)              \
  EACH(std::optional<HardwareCounters>)     \
  EACH(std::optional<FragmentCycles>)       \
  EACH(std::optional<Failure>)
#define ATTNSCOPE_COMPILED_ELSEWHERE(...)                                                   \
  extern template void fields::read(JsonReader&, const char*, __VA_ARGS__&, const Limits&); \
  extern template Json fields::written(const __VA_ARGS__&, const Limits&);
#define ATTNSCOPE_COMPILED_HERE(...)                                                 \
  template void fields::read(JsonReader&, const char*, __VA_ARGS__&, const Limits&); \
  template Json fields::written(const __VA_ARGS__&, const Limits&);
ATTNSCOPE_OBSERVATION_MEMBERS(ATTNSCOPE_COMPILED_ELSEWHERE)

}  // namespace attnscope
