#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/number_text.h"
#include "explain/divisions.h"
#include "explain/next.h"
#include "explain/rules.h"
#include "model/rates.h"

namespace attnscope::explain {
namespace {

using model::Stall;
using model::Unit;

// Tensor Cores that make this share of the products make all of them: a count may miss some.
constexpr double kAlmostAll = 0.9;

// True for latencies that more warps or an earlier load would hide.
bool can_be_hidden(TermKind term) {
  return term == TermKind::global_latency || term == TermKind::shared_latency || term == TermKind::local_latency ||
         term == TermKind::mufu_latency || term == TermKind::shuffle_latency || term == TermKind::constant_latency;
}

bool is_arithmetic(Unit unit) {
  return unit == Unit::fp32 || unit == Unit::fp16x2 || unit == Unit::half_to_float || unit == Unit::conversion;
}

bool multiplies_and_adds(Unit unit) { return unit == Unit::fp32 || unit == Unit::fp16x2; }

// The share of the problem's products that Tensor Cores make.
double share_on_tensor_cores(const Facts& facts) {
  double products = 0;
  for (const Instruction& one : facts.code) products += one.products;
  const double flop = grid_scale(facts) * products * model::kProductFlop;
  return std::min(1.0, flop / facts.seen.experiment.problem.flops());
}

// The share of the multiply-adds, or what takes their place, that this share of the problem's products needs. What a
// kernel computes besides, such as a softmax, stays where it is when Tensor Cores make the products.
double share_of_products(const Facts& facts, double of_problem) {
  double made = 0;
  for (const Instruction& one : facts.code)
    if (multiplies_and_adds(one.unit)) made += one.lanes * (one.unit == Unit::fp16x2 ? 2 : 1);
  made *= grid_scale(facts);
  return made > 0 ? std::min(1.0, of_problem * facts.seen.experiment.problem.flops() / 2 / made) : 0;
}

bool takes_halves(const Kernel& kernel, const Problem& problem) {
  if (problem.is_attention()) return problem.dtype != DType::f32;
  return std::ranges::all_of(kernel.buffers, [](const BufferDeclaration& one) {
    return one.role != BufferRole::in || one.type == ElementType::f16 || one.type == ElementType::bf16;
  });
}

bool holds_doubles(const Kernel& kernel) {
  return std::ranges::any_of(kernel.buffers, [](const BufferDeclaration& one) { return one.type == ElementType::f64; });
}

// Warps at once on an SM that has work: a grid with few CTAs does not fill the places that occupancy counts.
double warps_of_busy_sm(const Facts& facts) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  const double of_cta = double(occupancy.warps_per_sm) / double(std::max<int64_t>(1, occupancy.ctas_per_sm));
  return std::max(of_cta, warps_at_once(facts.spec, occupancy));
}

// A pair of lines, one of which waits for the other.
struct WaitingPair {
  const Instruction *producer = nullptr, *consumer = nullptr;
  std::set<uint32_t> consumers{};  // indices of the consumer's line
  double us = 0;
};

// How long a scheduler is without work for the waits of a pair, and what could fill that time.
struct Exposed {
  double clocks = 0;   // of a scheduler, for one wait; 0: unknown
  double between = 0;  // clocks in which a warp issues between two such waits
  double warps = 0;    // of a scheduler that has any
  double hide = 0;     // warps of a scheduler that would hide all waits of this kind
  double most = 0;     // warps that a scheduler holds
};

// `us`: all waits of the pair's kind. The model's times are means over the schedulers that have a warp.
Exposed exposed(const Facts& facts, const WaitingPair& pair, double us) {
  const double all = model::rates::rate(facts.spec, model::rates::kIssue), warps = warps_of_busy_sm(facts);
  const double schedulers = std::clamp(warps, 1.0, std::max(1.0, all));
  const double busy = std::max(term_us(facts, TermKind::issue), 1e-9);
  Exposed made;
  made.warps = warps / schedulers;
  made.hide = made.warps * (1 + us / busy);
  made.most = double(facts.spec.warps_sm) / std::max(1.0, all);
  double waits = 0;
  for (const uint32_t one : pair.consumers) waits += facts.code[one].issued;
  const auto sms = double(std::min(facts.spec.sms, facts.seen.occupancy->total_ctas));
  waits *= grid_scale(facts) / std::max(1.0, sms * schedulers);
  const double mhz = facts.seen.timing ? facts.seen.timing->clock_mhz : 0;
  if (waits <= 0) return made;
  made.clocks = pair.us * mhz / waits;
  made.between = term_us(facts, TermKind::issue) * mhz / waits;
  return made;
}

// Why there are no more warps.
std::string why_no_more(const Facts& facts, const Exposed& of) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  if (of.hide > of.most) return fmt::format(" A scheduler holds {:.3g} at most, which are not enough.", of.most);
  if (warps_of_busy_sm(facts) < double(occupancy.warps_per_sm))
    return fmt::format(" More would fit; the grid has only {} CTA{} for {} SMs.", occupancy.total_ctas,
                       occupancy.total_ctas == 1 ? "" : "s", facts.spec.sms);
  return facts.seen.variant ? fmt::format(" No more fit: {}.", limit_text(facts)) : "";
}

std::optional<Finding> latency_exposed(const Facts& facts) {
  std::map<std::tuple<TermKind, std::string, int, int>, WaitingPair> pairs;  // by the two lines
  const WaitingPair* worst = nullptr;
  TermKind term = TermKind::other;
  for (const Stall& stall : facts.stalls) {
    if (!can_be_hidden(stall.term) || stall.producer == Stall::kNone) continue;
    const Instruction &from = facts.code[stall.producer], &to = facts.code[stall.consumer];
    WaitingPair& pair = pairs[{stall.term, from.file, from.line, to.line}];
    pair.producer = &from, pair.consumer = &to;
    pair.consumers.insert(stall.consumer);
    pair.us += stall.time;
    if (worst == nullptr || pair.us > worst->us) worst = &pair, term = stall.term;
  }
  if (worst == nullptr || !facts.seen.occupancy) return std::nullopt;
  const double us = stalled_us(facts, [&](const Stall& s) { return s.term == term; });
  const Exposed of = exposed(facts, *worst, us);
  const double warps = warps_of_busy_sm(facts);
  std::string sentence = fmt::format(
      "{} waits for what {} loads or computes, and no other warp has work meanwhile: {} of the time is {}.",
      place(*worst->consumer), place(*worst->producer), percent(worst->us / time_us(facts)), to_string(term));
  if (of.clocks > 0)
    sentence += fmt::format(
        " Each wait leaves a scheduler without work for {:.3g} clocks; between two of them a warp issues for {:.3g}.",
        of.clocks, of.between);
  sentence += fmt::format(" About {:.3g} warps per scheduler would hide it; there are {:.3g}.{}", std::ceil(of.hide),
                          of.warps, why_no_more(facts, of));
  std::vector<Evidence> evidence{modelled("time of this wait", worst->us), modelled("all waits of its kind", us),
                                 counted("warps on an SM", warps),
                                 modelled("warps that would hide it", warps * of.hide / of.warps, "")};
  if (of.clocks > 0) {
    evidence.push_back(modelled("exposed clocks of a wait", of.clocks, "clocks"));
    evidence.push_back(modelled("clocks in which a warp issues between two waits", of.between, "clocks"));
  }
  evidence.push_back(counted("warps of a scheduler", of.warps));
  evidence.push_back(modelled("warps of a scheduler that would hide it", of.hide, ""));
  evidence.push_back(counted("warps that a scheduler holds", of.most));
  return costs(facts, RuleId::latency_exposed, worst->us, std::move(sentence), std::move(evidence), worst->producer);
}

std::optional<Finding> bound_roof(const Facts& facts) {
  const auto [bound, us] = highest_roof(facts);
  if (bound == Bound::unknown || time_us(facts) <= 0) return std::nullopt;
  double wavefronts = 0, passes = 0;
  for (const Instruction& one : facts.code) wavefronts += one.wavefronts, passes += one.passes;
  // Both use the same path.
  const bool of_l1 = bound == Bound::shared_memory && passes > wavefronts;
  return note(
      RuleId::bound_roof, Severity::info,
      fmt::format("Of all units, {} would be busy longest: the counted work keeps it busy for {} us, {} of "
                  "the time. The rest is waiting, not work.",
                  of_l1 ? "the path of L1 lines" : to_string(bound), number_text(us, 3), percent(us / time_us(facts))),
      {modelled("least time of that unit", us), modelled("share of the roof", 100 * us / time_us(facts), "%")});
}

std::optional<Finding> phase_most(const Facts& facts) {
  const auto phases = us_by_phase(facts);
  if (phases.empty() || time_us(facts) <= 0) return std::nullopt;
  std::vector<std::pair<double, std::string>> longest;
  for (const auto& [phase, us] : phases) longest.emplace_back(us, phase);
  std::ranges::sort(longest, std::greater<>());
  longest.resize(std::min<size_t>(longest.size(), 3));
  std::vector<Evidence> evidence;
  for (const auto& [us, phase] : longest) evidence.push_back(modelled(phase, us));
  const std::string& most = longest.front().second;
  const Instruction* at = carrier(facts, [&](const Stall& s) { return facts.code[s.producer].phase == most; });
  return note(RuleId::phase_most, Severity::info,
              fmt::format("Most of the time, {}, goes to {}.", percent(longest.front().first / time_us(facts)), most),
              std::move(evidence), at);
}

std::optional<Finding> mufu_bound(const Facts& facts) {
  const auto waits = [](const Stall& s) { return s.term == TermKind::mufu; };
  const Instruction* at = carrier(facts, waits);
  if (at == nullptr) return std::nullopt;
  const double us = stalled_us(facts, waits);
  const double fma = model::rates::rate(facts.spec, model::rates::kFp32) /
                     std::max(1.0, model::rates::rate(facts.spec, model::rates::kMufu));
  return costs(
      facts, RuleId::mufu_bound, us,
      fmt::format("Warps queue for the MUFU, which makes exponentials and reciprocals: {} of the time. The FP32 "
                  "pipe does {:.3g} operations meanwhile.",
                  percent(us / time_us(facts)), fma),
      {modelled("time of the queue", us), modelled("FP32 operations for one of the MUFU", fma, "")}, at);
}

std::optional<Finding> tensor_unused(const Facts& facts) {
  const Problem& problem = facts.seen.experiment.problem;
  if (facts.spec.tensor_tflops_f16 <= 0 || problem.flops() <= 0 || !takes_halves(facts.kernel, problem))
    return std::nullopt;
  const double on_tensor = share_on_tensor_cores(facts);
  if (on_tensor > kAlmostAll || (on_tensor > 0 && facts.kernel.step)) return std::nullopt;  // others are another step's
  const auto arithmetic = [&](const Stall& s) {
    return s.producer != Stall::kNone && is_arithmetic(facts.code[s.producer].unit);
  };
  const double sums = stalled_us(
      facts, [&](const Stall& s) { return arithmetic(s) && multiplies_and_adds(facts.code[s.producer].unit); });
  const double needed = share_of_products(facts, 1 - on_tensor);
  const double least = (1 - on_tensor) * problem.flops() / facts.spec.tensor_tflops_f16 * 1e-6;
  const double us = stalled_us(facts, arithmetic) - sums * (1 - needed);
  const Instruction* at = carrier(facts, arithmetic);
  const std::string what = on_tensor > 0 ? fmt::format(
                                               "Tensor Cores make {} of the products. The others run on the FP32 pipe; "
                                               "Tensor Cores would take {} us for them.",
                                               percent(on_tensor), number_text(least, 2))
                                         : fmt::format(
                                               "All products run on the FP32 pipe; the Tensor Cores, which would take "
                                               "{} us for them, are idle.",
                                               number_text(least, 2));
  return costs(facts, RuleId::tensor_unused, us - least, what,
               {modelled("time of the products", us), modelled("time on the Tensor Cores", least),
                counted("multiply-adds that products need", 100 * needed, "%"),
                counted("products of Tensor Cores", 100 * on_tensor, "%")},
               at);
}

// A constant without a suffix turns everything beside it into double.
std::optional<Finding> double_used(const Facts& facts) {
  if (holds_doubles(facts.kernel)) return std::nullopt;
  std::set<std::pair<std::string, int>> lines;
  for (const Instruction& one : facts.code)
    if (one.unit == Unit::fp64) lines.emplace(one.file, one.line);
  // Includes the conversions to doubles and back.
  const auto of_doubles = [&](const Stall& s) {
    if (s.producer == Stall::kNone) return false;
    const Instruction& one = facts.code[s.producer];
    return one.unit == Unit::fp64 || (one.unit == Unit::conversion && lines.contains({one.file, one.line}));
  };
  const double us = stalled_us(facts, of_doubles);
  const Instruction* at = carrier(facts, [&](const Stall& s) { return facts.code[s.producer].unit == Unit::fp64; });
  if (at == nullptr) return std::nullopt;
  const double lanes = model::rates::rate(facts.spec, model::rates::kFp64),
               of_floats = model::rates::rate(facts.spec, model::rates::kFp32);
  return costs(facts, RuleId::double_used, us,
               fmt::format("{} computes with doubles, though no buffer holds any: {} of the time. An SM does {:.3g} of "
                           "them a clock, and {:.3g} floats.",
                           place(*at), percent(us / time_us(facts)), lanes, of_floats),
               {modelled("time of doubles", us), counted("doubles of an SM and clock", lanes),
                counted("floats of an SM and clock", of_floats)},
               at);
}

// No device divides integers: the compiler makes an estimate in floats (two conversions and a reciprocal) and corrects
// it by integer products. A line with all of these, and fewer float instructions, divides by a value unknown at compile
// time.
std::optional<Finding> integer_division(const Facts& facts) {
  using Line = std::pair<std::string, int>;
  struct Made {
    int mufu = 0, reciprocals = 0, conversions = 0, products = 0, integers = 0, floats = 0;
    bool divides() const {
      return mufu >= 1 && conversions >= 2 && products >= 1 && products + integers >= 6 && floats < integers;
    }
    // Each division of integers has one reciprocal and two conversions.
    bool divides_floats() const { return 2 * reciprocals > conversions; }
  };
  std::map<Line, Made> lines;
  for (const Instruction& one : facts.code) {
    if (one.line <= 0) continue;
    Made& made = lines[{one.file, one.line}];
    made.mufu += one.unit == Unit::mufu;
    made.reciprocals += one.reciprocal;
    made.conversions += one.unit == Unit::conversion;
    made.products += one.unit == Unit::imad;
    made.integers += one.unit == Unit::integer;
    made.floats += is_arithmetic(one.unit) && one.unit != Unit::conversion;
  }
  const auto of_division = [&](const Stall& s) {
    if (s.producer == Stall::kNone) return false;
    const Instruction& one = facts.code[s.producer];
    const auto line = lines.find({one.file, one.line});
    return line != lines.end() && line->second.divides() &&
           (one.unit == Unit::mufu || one.unit == Unit::conversion || one.unit == Unit::imad ||
            one.unit == Unit::integer);
  };
  const Instruction* at = carrier(facts, of_division);
  if (at == nullptr) return std::nullopt;
  const double us = stalled_us(facts, of_division);
  const Made& made = lines.at({at->file, at->line});
  const double instructions = made.mufu + made.conversions + made.products + made.integers;
  std::string sentence;
  if (const auto loop = loop_whose_runs_are_counted(facts.kernel, at->file, at->line, made.divides_floats())) {
    sentence = fmt::format(
        "The compiler counts the runs of the loop at {}:{} by a division of integers, because only the run knows the "
        "loop's step: {:.0f} instructions at {}, and {} of the time. What helps: #pragma unroll 1 before a loop of few "
        "runs, or a step that is known when the kernel is compiled.",
        at->file, *loop, instructions, place(*at), percent(us / time_us(facts)));
  } else {
    sentence = fmt::format(
        "{} divides integers, or takes a remainder, by a number that only the run knows: {:.0f} instructions, and {} "
        "of the time. What helps: a divisor that is known when the kernel is compiled, a power of two by shift and "
        "mask, or counting along instead of dividing.",
        place(*at), instructions, percent(us / time_us(facts)));
  }
  return costs(facts, RuleId::integer_division, us, std::move(sentence),
               {modelled("time of division", us), counted("instructions of the line", instructions)}, at);
}

constexpr RuleOf kUnitRules[] = {
    {RuleId::latency_exposed, latency_exposed,
     "What helps: load earlier (double buffering), independent work in between, or more warps.", Wants::warps},
    {RuleId::mufu_bound, mufu_bound,
     "What helps: fewer exponentials, or a polynomial on the FP32 pipe for some of them."},
    {RuleId::tensor_unused, tensor_unused, "What helps: products by mma instructions.", Wants::tensor},
    {RuleId::double_used, double_used,
     "What helps: constants with the suffix f (0.5f for 0.5) and functions of floats (sqrtf for sqrt)."},
    {RuleId::integer_division, integer_division, ""},  // it says what helps
    {RuleId::bound_roof, bound_roof, ""},
    {RuleId::phase_most, phase_most, ""}};

}  // namespace

std::span<const RuleOf> unit_rules() { return kUnitRules; }

}  // namespace attnscope::explain
