// Each rule as data: what is planted in an input, the rule that must find it, and the line. The rule is silent on the
// input without the plant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "explain/explain.h"
#include "explain/rules.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

using model::Unit;
using testing::HasSubstr;
using Change = std::function<void(Input&)>;

constexpr int kNoLine = 0;

const Finding* find(const std::vector<Finding>& findings, RuleId rule) {
  const auto found = std::ranges::find(findings, Rule(rule), &Finding::rule);
  return found == findings.end() ? nullptr : &*found;
}

int line_of(const Finding& finding) {
  const auto line = finding.where.find("line");
  return line == finding.where.end() ? kNoLine : std::stoi(line->second);
}

struct Planted {
  std::string name;
  RuleId rule;
  int line;
  Severity severity;
  Change plant;
  size_t among = 3;  // the first findings
};

const std::vector<Planted>& planted() {
  static const std::vector<Planted> all{
      {"HalfTheLanesWork", RuleId::idle_threads, kSum, Severity::warning,
       [](Input& in) { in.at(kSum).lanes = in.at(kStore).lanes = 160000; }},
      {"AQuarterOfTheLanesWork", RuleId::idle_threads, kScore, Severity::warning,
       [](Input& in) { in.at(kScore).lanes = in.at(kWait).lanes = 80000; }},
      {"OneWarpScores", RuleId::lone_warps, kScore, Severity::warning,
       [](Input& in) {
         in.facts.warps["score"] = {400, 0, 0, 0};
         in.stall(TermKind::barriers, kWait, 20);
       }},
      {"TwoOfFourWarpsSum", RuleId::lone_warps, kSum, Severity::warning,
       [](Input& in) {
         in.facts.warps["sum"] = {200, 200, 0, 0};
         in.stall(TermKind::barriers, kWait, 20);
       }},
      {"OneWarpDoesMostOfTheLoad", RuleId::lone_warps, kLoad, Severity::warning,
       [](Input& in) {
         in.facts.warps["load"] = {280, 40, 40, 40};
         in.stall(TermKind::barriers, kWait, 20);
       }},
      {"WarpsWaitAtABarrier", RuleId::barrier_wait, kWait, Severity::warning,
       [](Input& in) { in.stall(TermKind::barriers, kWait, 20); }},
      {"AFewWaitAtABarrier", RuleId::barrier_wait, kWait, Severity::info,
       [](Input& in) { in.stall(TermKind::barriers, kWait, 2); }, 9},
      {"EveryLaneReadsOneBank", RuleId::bank_conflicts, kScore, Severity::warning,
       [](Input& in) {
         in.at(kScore).wavefronts = 320000;
         in.stall(TermKind::bank_conflicts, kScore, 30);
       }},
      {"StoresConflictTwice", RuleId::bank_conflicts, kSum, Severity::info,
       [](Input& in) {
         in.at(kSum).wavefronts = 20000, in.at(kSum).ideal = 10000;
         in.stall(TermKind::bank_conflicts, kSum, 4);
       },
       9},
      {"AnotherWaitsBehindTheConflict", RuleId::bank_conflicts, kScore, Severity::warning,
       [](Input& in) {
         in.at(kScore).wavefronts = 80000;
         in.stall(TermKind::bank_conflicts, kSum, 15);
       }},
      {"WarpsQueueForSharedMemory", RuleId::shared_queue, kScore, Severity::warning,
       [](Input& in) { in.stall(TermKind::shared_wavefronts, kScore, 20); }},
      {"EachLaneLoadsFourBytes", RuleId::global_narrow, kLoad, Severity::warning,
       [](Input& in) { in.at(kLoad).width = 4; }},
      {"EachLaneStoresEightBytes", RuleId::global_narrow, kStore, Severity::info,
       [](Input& in) {
         in.at(kStore).width = 8;
         in.stall(TermKind::issue, kStore, 12);
       },
       9},
      {"DoublesAmongFloats", RuleId::double_used, kSum, Severity::warning,
       [](Input& in) {
         in.at(kSum).unit = Unit::fp64;
         in.stall(TermKind::fp64, kSum, 20);
       }},
      {"DividesIntegers", RuleId::integer_division, kSum, Severity::warning, [](Input& in) { in.divide(kSum, 20); }},
      {"ALineStandsBehindAnothersLines", RuleId::global_scattered, kStore, Severity::warning,
       [](Input& in) {
         in.at(kStore).lines = in.at(kStore).passes = 64000, in.at(kStore).sectors = 64000;
         in.at(kSum).unit = Unit::global_load;
         in.stall(TermKind::l1_lines, kSum, 30);
       }},
      {"EachLaneReadsItsOwnLine", RuleId::global_scattered, kLoad, Severity::warning,
       [](Input& in) {
         in.at(kLoad).lines = in.at(kLoad).passes = 64000, in.at(kLoad).sectors = 64000;
         in.stall(TermKind::l1_lines, kLoad, 30);
       }},
      {"StoresGoEverySecondWord", RuleId::global_scattered, kStore, Severity::warning,
       [](Input& in) {
         in.at(kStore).sectors = 6250, in.at(kStore).lines = in.at(kStore).passes = 1564;
         in.stall(TermKind::l2_bandwidth, kStore, 25);
       }},
      {"EachByteIsLoadedTenTimes", RuleId::global_repeated, kLoad, Severity::warning,
       [](Input& in) {
         in.facts.distinct_bytes = 1e5;
         in.stall(TermKind::l2_bandwidth, kLoad, 15);
       }},
      {"LanesAddToOneWord", RuleId::atomics_meet, kStore, Severity::warning,
       [](Input& in) {
         Instruction& add = in.at(kStore);
         add.atomic = true;
         add.turns = 32 * add.requests;
         in.stall(TermKind::atomics, kStore, 30);
       }},
      {"SpillsCost", RuleId::local_spill, kSum, Severity::warning,
       [](Input& in) {
         in.facts.seen.variant->spill_bytes = in.facts.seen.variant->stack_bytes = 512;
         in.at(kSum).unit = Unit::local_load;
       }},
      {"SpillsThatCostNothing", RuleId::local_spill, kNoLine, Severity::info,
       [](Input& in) { in.facts.seen.variant->spill_bytes = in.facts.seen.variant->stack_bytes = 16; }, 9},
      {"AFunctionCallsItself", RuleId::local_recursion, kSum, Severity::warning,
       [](Input& in) {
         in.facts.seen.variant->spill_bytes = 40;  // and ptxas gives no stack size
         in.at(kSum).unit = Unit::local_load;
       }},
      {"AnArrayOnTheStack", RuleId::local_stack, kLoad, Severity::warning,
       [](Input& in) {
         in.facts.seen.variant->stack_bytes = 256;
         in.at(kLoad).unit = Unit::local_load;
       }},
      {"ALoadIsWaitedFor", RuleId::latency_exposed, kLoad, Severity::warning,
       [](Input& in) { in.stall(TermKind::global_latency, kLoad, 20, kScore); }},
      {"ASharedLoadIsWaitedFor", RuleId::latency_exposed, kScore, Severity::warning,
       [](Input& in) { in.stall(TermKind::shared_latency, kScore, 20, kSum); }},
      {"RegistersAllowTwoCtas", RuleId::occupancy_low, kNoLine, Severity::warning,
       [](Input& in) {
         in.facts.seen.variant->registers = 255;
         in.facts.seen.occupancy = Occupancy{1, 4, 4.0 / 48, Limiter::registers, 2, 96, 48, 0};
         in.stall(TermKind::instruction_latency, kSum, 20);
       }},
      {"SharedMemoryAllowsOneCta", RuleId::occupancy_low, kNoLine, Severity::warning,
       [](Input& in) {
         in.facts.seen.variant->dynamic_shared_bytes = 80000;
         in.facts.seen.occupancy = Occupancy{1, 4, 4.0 / 48, Limiter::shared_memory, 2, 96, 48, 0};
         in.stall(TermKind::shared_latency, kScore, 20);
       }},
      {"ManyWarpsAndOneWorks", RuleId::occupancy_misleading, kNoLine, Severity::info,
       [](Input& in) {
         in.facts.warps["score"] = {400, 0, 0, 0};
         in.stall(TermKind::barriers, kWait, 20);
       },
       9},
      {"ManyWarpsQueue", RuleId::occupancy_misleading, kNoLine, Severity::info,
       [](Input& in) {
         std::erase_if(in.facts.stalls, [](const model::Stall& s) { return s.term != TermKind::launch; });
         in.stall(TermKind::shared_wavefronts, kScore, 90);
       },
       9},
      {"ALastWave", RuleId::grid_tail, kNoLine, Severity::warning,
       [](Input& in) {
         in.facts.seen.occupancy->total_ctas = 100;
         in.stall(TermKind::tail, 0, 20);
       }},
      {"FewerCtasThanSms", RuleId::grid_small, kNoLine, Severity::warning,
       [](Input& in) { in.facts.seen.occupancy->total_ctas = 12; }},
      {"OneCta", RuleId::grid_small, kNoLine, Severity::warning,
       [](Input& in) { in.facts.seen.occupancy->total_ctas = 1; }},
      {"ALaunchOfAlmostNothing", RuleId::launch_most, kNoLine, Severity::info,
       [](Input& in) { in.stall(TermKind::launch, 0, 50); }, 9},
      {"WarpsQueueForTheMufu", RuleId::mufu_bound, kSum, Severity::warning,
       [](Input& in) {
         in.at(kSum).unit = Unit::mufu;
         in.stall(TermKind::mufu, kSum, 20);
       }},
      {"HalvesOnTheFp32Pipe", RuleId::tensor_unused, kSum, Severity::warning,
       [](Input& in) { in.facts.seen.experiment.problem.dtype = DType::f16; }},
      {"AccumulatesInHalves", RuleId::error_half, kNoLine, Severity::warning,
       [](Input& in) {
         in.kernel.accumulate = "f16";
         Verdict& verdict = in.facts.seen.verdict.emplace();
         verdict.rows_checked = 64, verdict.naive_rel_frobenius = 2e-4, verdict.rel_frobenius = 8e-4;
       },
       9},
      {"AKnobThatNothingUses", RuleId::knob_unused, kNoLine, Severity::warning,
       [](Input& in) {
         in.kernel.knobs.push_back({"VECTOR", {{1, ""}, {2, ""}}, 1, ""});
       },
       9},
      {"AKnobWithOnlyADefault", RuleId::knob_unused, kNoLine, Severity::warning,
       [](Input& in) {
         in.kernel.knobs.push_back({"VECTOR", {{1, ""}, {2, ""}}, 1, ""});
         in.kernel.source += "#ifndef VECTOR\n#define VECTOR 1\n#endif\n// VECTOR\n";
       },
       9},
      {"AHelperThatNothingCalls", RuleId::helper_unused, 6, Severity::info,
       [](Input& in) { in.kernel.source += "__device__ __forceinline__ int swizzled(int i) { return i ^ 7; }\n"; }, 9},
      {"ItDoesNotFit", RuleId::limits_exceeded, kNoLine, Severity::error,
       [](Input& in) {
         in.facts.seen.failure = Failure{Stage::limits, "asks 57,376 B of static shared memory", ""};
         in.facts.seen.variant.reset(), in.facts.seen.timing.reset();
       }},
  };
  return all;
}

class Rules : public testing::TestWithParam<Planted> {};

TEST_P(Rules, FindWhatIsPlantedAtItsLine) {
  const Planted& one = GetParam();
  Input in;
  one.plant(in);
  const std::vector<Finding> findings = findings_of(in.facts);
  const Finding* found = find(findings, one.rule);
  ASSERT_NE(found, nullptr) << Rule(one.rule).name();
  EXPECT_EQ(line_of(*found), one.line) << found->sentence;
  EXPECT_EQ(found->severity, one.severity) << found->sentence;
  EXPECT_LT(static_cast<size_t>(found - findings.data()), one.among) << "it is not among the first";
  EXPECT_FALSE(found->sentence.empty());
  for (const Evidence& evidence : found->evidence) {
    EXPECT_FALSE(evidence.name.empty());
    EXPECT_TRUE(std::isfinite(evidence.value)) << evidence.name;
  }
}

// Names decide nothing: the rules also find the plants in a kernel and on a device with other names.
TEST_P(Rules, FindItUnderOtherNames) {
  const Planted& one = GetParam();
  Input in;
  one.plant(in);
  in.kernel.id = "renamed";
  in.spec.id = in.spec.name = "other";
  for (Instruction& instruction : in.facts.code) instruction.file = "renamed.cu";
  EXPECT_NE(find(findings_of(in.facts), one.rule), nullptr);
}

TEST_P(Rules, AreSilentWithoutIt) {
  Input in;
  EXPECT_EQ(find(findings_of(in.facts), GetParam().rule), nullptr) << Rule(GetParam().rule).name();
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(planted()), [](const auto& one) { return one.param.name; });

// Inputs in which nothing is wrong. Some resemble a planted input.
struct Clean {
  std::string name;
  Change change;
};

const std::vector<Clean>& clean() {
  static const std::vector<Clean> all{
      {"AsItIs", [](Input&) {}},
      {"NearlyAllLanesWork", [](Input& in) { in.at(kSum).lanes = in.at(kStore).lanes = 300000; }},
      {"WarpsShareUnevenly",
       [](Input& in) {
         in.facts.warps["score"] = {120, 100, 100, 100};
       }},
      {"OneWarpDoesAShortPhase",
       [](Input& in) {
         in.facts.warps["tidy"] = {1, 0, 0, 0};
       }},
      {"FewWarpsDoAPhaseThatNobodyWaitsFor",
       [](Input& in) {
         std::erase_if(in.facts.stalls, [](const model::Stall& s) { return s.term == TermKind::barriers; });
         in.facts.warps["score"] = {220, 180, 0, 0};
       }},
      {"OneWarpIsTheWholeCta",
       [](Input& in) {
         for (auto& [phase, warps] : in.facts.warps) warps = {100};
       }},
      {"ConflictsThatNobodyWaitsFor", [](Input& in) { in.at(kScore).wavefronts = 20000; }},
      {"ConflictsOfAMoment",
       [](Input& in) {
         in.at(kScore).wavefronts = 20000;
         in.stall(TermKind::bank_conflicts, kScore, 1);
       }},
      {"ScatteredButHidden",
       [](Input& in) { in.at(kLoad).lines = in.at(kLoad).passes = 64000, in.at(kLoad).sectors = 64000; }},
      {"AcrossTwoLinesAtNoCost",
       [](Input& in) {
         in.at(kLoad).lines = 2 * in.at(kLoad).requests, in.at(kLoad).passes = in.at(kLoad).requests;
         in.stall(TermKind::l1_lines, kLoad, 30);
       }},
      {"QueuedButDense", [](Input& in) { in.stall(TermKind::l1_lines, kLoad, 30); }},
      {"RepeatedButHidden", [](Input& in) { in.facts.distinct_bytes = 1e5; }},
      {"WideLoads", [](Input& in) { in.at(kLoad).width = 16; }},
      {"ABroadcastOfFourBytes", [](Input& in) { in.at(kLoad).width = 4, in.at(kLoad).sectors = 2000; }},
      {"FourBytesFarApart", [](Input& in) { in.at(kLoad).width = 4, in.at(kLoad).sectors = 64000; }},
      {"AGlobalStoreInTheQueueOfSharedMemory", [](Input& in) { in.stall(TermKind::shared_wavefronts, kStore, 20); }},
      {"SharedMemoryWithoutAQueue", [](Input& in) { in.at(kScore).wavefronts = in.at(kScore).ideal = 100000; }},
      {"DoublesInBuffersOfDoubles",
       [](Input& in) {
         in.kernel.buffers.emplace_back().type = ElementType::f64;
         in.at(kSum).unit = Unit::fp64;
         in.stall(TermKind::fp64, kSum, 20);
       }},
      {"AFloatThatIsDividedAndRounded",
       [](Input& in) {
         for (const Unit unit : {Unit::mufu, Unit::conversion, Unit::integer, Unit::imad}) in.add(unit, kSum, 5);
       }},
      {"LoadedTwice", [](Input& in) { in.facts.distinct_bytes = 5e5, in.stall(TermKind::l2_bandwidth, kLoad, 40); }},
      {"LoadedOnce", [](Input& in) { in.stall(TermKind::l2_bandwidth, kLoad, 40); }},
      {"StackWithoutAccesses", [](Input& in) { in.facts.seen.variant->stack_bytes = 64; }},
      {"ManyRegistersAndFullPlaces", [](Input& in) { in.facts.seen.variant->registers = 255; }},
      {"FewWarpsThatNeverWait",
       [](Input& in) {
         in.facts.seen.occupancy = Occupancy{1, 4, 4.0 / 48, Limiter::shared_memory, 2, 96, 48, 0};
         std::erase_if(in.facts.stalls, [](const model::Stall& s) { return s.term != TermKind::issue; });
       }},
      {"FewWarpsOfASmallGrid",
       [](Input& in) { in.facts.seen.occupancy = Occupancy{3, 12, 0.25, Limiter::registers, 0.7, 96, 144, 96}; }},
      {"AnEvenGrid", [](Input& in) { in.facts.seen.occupancy->total_ctas = 480; }},
      {"ATailOfALongGrid",
       [](Input& in) {
         in.facts.seen.occupancy->total_ctas = 48 * 40 + 1;
         in.stall(TermKind::tail, 0, 1);
       }},
      {"ALaunchThatIsAFifth", [](Input& in) { in.stall(TermKind::launch, 0, 17); }},
      {"MufuWithoutAQueue", [](Input& in) { in.at(kSum).unit = Unit::mufu; }},
      {"FloatsOnTheFp32Pipe", [](Input& in) { in.stall(TermKind::fp32, kSum, 30); }},
      {"HalvesOnTheTensorCores",
       [](Input& in) {
         in.facts.seen.experiment.problem.dtype = DType::f16;
         in.at(kScore).products = in.facts.seen.experiment.problem.flops() / model::kProductFlop;
       }},
      {"HalvesWithoutTensorCores",
       [](Input& in) {
         in.facts.seen.experiment.problem.dtype = DType::f16;
         in.spec.tensor_tflops_f16 = 0;
       }},
      {"HalvesAsGoodAsFloats",
       [](Input& in) {
         in.kernel.accumulate = "f16";
         Verdict& verdict = in.facts.seen.verdict.emplace();
         verdict.rows_checked = 64, verdict.naive_rel_frobenius = verdict.rel_frobenius = 2e-4;
       }},
      {"AFloatErrorThatIsLarge",
       [](Input& in) {
         Verdict& verdict = in.facts.seen.verdict.emplace();
         verdict.rows_checked = 64, verdict.naive_rel_frobenius = 2e-4, verdict.rel_frobenius = 8e-4;
       }},
      {"AKnobOfTheLaunch",
       [](Input& in) {
         in.kernel.knobs.push_back({"SPLITS", {{1, ""}}, 1, ""});
         in.kernel.launch.grid[2] = "SPLITS";
       }},
      {"AKnobOfAPreprocessorLine",
       [](Input& in) {
         in.kernel.knobs.push_back({"WIDE", {{0, ""}}, 0, ""});
         in.kernel.source += "#if WIDE\n#endif\n";
       }},
      {"AKnobOfAnIncludedFile",
       [](Input& in) {
         in.kernel.knobs.push_back({"WIDE", {{0, ""}}, 0, ""});
         in.kernel.source += "#include \"wide.cuh\"\n";
       }},
      {"AHelperThatAMacroCalls",
       [](Input& in) {
         in.kernel.source += "__device__ int twice(int i) { return 2 * i; }\n#define TWICE(i) twice(i)\n";
       }},
      {"AVariableOfTheDevice", [](Input& in) { in.kernel.source += "__device__ int counter;\n"; }},
      {"ARefusalOfAnotherKind",
       [](Input& in) {
         in.facts.seen.failure = Failure{Stage::compile, "an undeclared name", ""};
       }},
      {"AMachineWithoutMemory",
       [](Input& in) {
         in.facts.seen.failure = Failure{Stage::limits, "only 1 GB is available", ""};
       }},
  };
  return all;
}

class CleanInput : public testing::TestWithParam<Clean> {};

TEST_P(CleanInput, DrawsNoWarning) {
  Input in;
  GetParam().change(in);
  for (const Finding& finding : findings_of(in.facts))
    EXPECT_EQ(finding.severity, Severity::info) << finding.rule.name() << ": " << finding.sentence;
}

// Four warps a CTA. Occupancy counts the places of an SM, which a small grid does not fill.
TEST(ExposedLatency, CountsTheWarpsThatTheGridHas) {
  const auto told = [](int64_t ctas, int64_t places) {
    Input in;
    in.stall(TermKind::global_latency, kLoad, 20, kScore);
    in.facts.seen.occupancy->total_ctas = ctas;
    in.facts.seen.occupancy->ctas_per_sm = places;
    in.facts.seen.occupancy->warps_per_sm = 4 * places;
    const std::vector<Finding> findings = findings_of(in.facts);
    const Finding* const found = find(findings, RuleId::latency_exposed);
    return found == nullptr ? "" : found->sentence;
  };
  EXPECT_THAT(told(6, 12),
              HasSubstr("would hide it; there are 1. More would fit; the grid has only 6 CTAs for 48 SMs."));
  EXPECT_THAT(told(96, 12), HasSubstr("would hide it; there are 2. More would fit"));
  EXPECT_THAT(told(4800, 12), HasSubstr("would hide it; there are 12. A scheduler holds 12 at most"));
  EXPECT_THAT(told(4800, 5), HasSubstr("would hide it; there are 5. No more fit: warps limit it."));
}

INSTANTIATE_TEST_SUITE_P(All, CleanInput, testing::ValuesIn(clean()), [](const auto& one) { return one.param.name; });

TEST(TensorUnused, LeavesOutWhatTheProductsDoNotNeed) {
  const auto estimated = [](double lanes) {
    Input input;
    Problem& problem = input.facts.seen.experiment.problem;
    problem.dtype = DType::f16;
    problem.seq_q = problem.seq_k = 64;
    input.at(kSum).lanes = lanes;
    const std::vector<Finding> findings = findings_of(input.facts);
    const Finding* found = find(findings, RuleId::tensor_unused);
    return found != nullptr ? *found->gain->estimated : 0;
  };
  Input shape;
  Problem problem = shape.facts.seen.experiment.problem;
  problem.seq_q = problem.seq_k = 64;
  const double needed = problem.flops() / 2, all = 35 + 2.5;  // us of the line
  EXPECT_NEAR(estimated(needed), all, 0.1);
  EXPECT_NEAR(estimated(needed / 2), all, 0.1) << "as with pairs of halves";
  EXPECT_NEAR(estimated(2 * needed), all / 2, 0.1) << "the other half is a softmax or the like";
}

// A Tensor Core instruction makes model::kProductFlop of the problem's operations.
TEST(TensorUnused, SaysWhichShareOfTheProductsIsLeft) {
  const auto told = [](
                        double share, void (*change)(Input&) = [](Input&) {}) {
    Input input;
    Problem& problem = input.facts.seen.experiment.problem;
    problem.dtype = DType::f16;
    problem.seq_q = problem.seq_k = 64;
    input.at(kScore).products = share * problem.flops() / model::kProductFlop;
    input.at(kSum).lanes = problem.flops() / 2 * (1 - share);
    change(input);
    const std::vector<Finding> findings = findings_of(input.facts);
    const Finding* found = find(findings, RuleId::tensor_unused);
    return found != nullptr ? found->sentence : "";
  };
  EXPECT_THAT(told(0), HasSubstr("are idle"));
  EXPECT_THAT(told(0.5), HasSubstr("Tensor Cores make 50 % of the products. The others run on the FP32 pipe"));
  EXPECT_EQ(told(1), "");
  EXPECT_EQ(told(0.95), "") << "a count may miss some";
  EXPECT_EQ(told(0.5, [](Input& in) { in.kernel.step = 1; }), "") << "another step of the program makes them";
}

TEST(RuleTable, EveryRuleOfTheTableIsPlanted) {
  std::set<RuleId> tested{RuleId::bound_roof, RuleId::phase_most};  // they always say something
  for (const Planted& one : planted()) tested.insert(one.rule);
  for (const RuleOf& rule : all_rules()) EXPECT_TRUE(tested.contains(rule.id)) << Rule(rule.id).name();
}

TEST(Ranking, ErrorsThenTheHighestGain) {
  std::vector<Finding> all(4);
  all[0].severity = Severity::info, all[0].gain = Gain{3, std::nullopt};
  all[1].severity = Severity::warning, all[1].gain = Gain{50, 2};  // tried: it saves less
  all[2].severity = Severity::warning, all[2].gain = Gain{20, std::nullopt};
  all[3].severity = Severity::error;
  for (size_t i = 0; i < all.size(); ++i) all[i].sentence = std::to_string(i);
  rank(all);
  std::string order;
  for (const Finding& one : all) order += one.sentence;
  EXPECT_EQ(order, "3201");
}

TEST(Next, AKnobThatFillsTheSmsIsProposed) {
  Input in;
  in.facts.seen.experiment.problem.seq_q = 32 * 24;
  in.facts.seen.occupancy->total_ctas = 24;
  const std::vector<Finding> findings = findings_of(in.facts);
  const Finding* found = find(findings, RuleId::grid_small);
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->next);
  EXPECT_EQ(found->next->set, (std::map<std::string, int64_t>{{"ROWS", 16}}));
  in.kernel.launch.grid[0] = "24";  // the knob does not affect it
  EXPECT_FALSE(find(findings_of(in.facts), RuleId::grid_small)->next);
}

TEST(Next, AConfigThatFitsIsProposed) {
  Input in;
  in.kernel.launch.static_shared = "1600 * ROWS";
  in.facts.seen.failure = Failure{Stage::limits, "too much", ""};
  in.facts.seen.variant.reset(), in.facts.seen.timing.reset();
  const Finding found = *look(RuleId::limits_exceeded, in.facts);
  ASSERT_TRUE(found.next);
  EXPECT_EQ(found.next->set, (std::map<std::string, int64_t>{{"ROWS", 16}}));
  EXPECT_THAT(found.sentence, HasSubstr("ROWS=16"));
}

TEST(Next, AKnobThatAccumulatesInFloatsIsProposed) {
  Input in;
  in.kernel.knobs.push_back({"SUMS", {{0, "f16"}, {1, "f32"}, {2, "f16"}}, 0, ""});
  in.kernel.accumulate = "SUMS";
  in.facts.seen.experiment.config.knobs["SUMS"] = 0;
  Verdict& verdict = in.facts.seen.verdict.emplace();
  verdict.rows_checked = 64, verdict.naive_rel_frobenius = 2e-4, verdict.rel_frobenius = 8e-4;
  const auto found = look(RuleId::error_half, in.facts);
  ASSERT_TRUE(found && found->next);
  EXPECT_EQ(found->next->set, (std::map<std::string, int64_t>{{"SUMS", 1}}));
}

TEST(Sentences, OneCtaIsSingular) {
  Input in;
  in.facts.seen.occupancy->total_ctas = 1;
  EXPECT_THAT(look(RuleId::grid_small, in.facts)->sentence, HasSubstr("has 1 CTA and"));
  in.facts.seen.occupancy->total_ctas = 2;
  EXPECT_THAT(look(RuleId::grid_small, in.facts)->sentence, HasSubstr("has 2 CTAs and"));
}

TEST(Sentences, ARefusalEndsWithOneStop) {
  for (const char* message : {"asks too much", "asks too much."}) {
    Input in;
    in.kernel.launch.static_shared = "1600 * ROWS";
    in.facts.seen.failure = Failure{Stage::limits, message, ""};
    in.facts.seen.variant.reset(), in.facts.seen.timing.reset();
    EXPECT_THAT(look(RuleId::limits_exceeded, in.facts)->sentence, testing::StartsWith("asks too much. The nearest"));
  }
}

// Seven of eight wavefronts are conflicts. Without them memory is busy for 10000/80000 of the wavefronts in 60 of 100
// us.
TEST(BankConflicts, TakeTheQueueOfTheNeededWavefrontsWithThem) {
  const auto saved = [](double wavefronts, double conflicts, double queue) {
    Input in;
    in.at(kScore).wavefronts = wavefronts;
    in.stall(TermKind::bank_conflicts, kScore, conflicts);
    in.stall(TermKind::shared_wavefronts, kScore, queue);
    in.stall(TermKind::shared_wavefronts, kLoad, 5);  // lines of global memory, on the same path
    const std::vector<Finding> findings = findings_of(in.facts);
    const Finding* const found = find(findings, RuleId::bank_conflicts);
    return found == nullptr ? 0 : *found->gain->estimated;
  };
  EXPECT_DOUBLE_EQ(saved(80000, 40, 0), 40);
  EXPECT_NEAR(saved(80000, 40, 8), 40 + 8 * (1 - 10000.0 / 80000 * 100 / 60), 1e-9);
  EXPECT_DOUBLE_EQ(saved(12000, 40, 8), 40) << "memory stays as busy as it was, for the time that is left";
}

TEST(Evidences, LinesAndSectorsAreThoseOfARequest) {
  Input in;
  in.at(kLoad).lines = in.at(kLoad).passes = 64000, in.at(kLoad).sectors = 16000;  // 2000 requests
  in.stall(TermKind::l1_lines, kLoad, 30);
  const auto found = look(RuleId::global_scattered, in.facts);
  ASSERT_TRUE(found);
  std::map<std::string, double> values;
  for (const Evidence& one : found->evidence) values[one.name] = one.value;
  EXPECT_DOUBLE_EQ(values["lines of a request"], 32);
  EXPECT_DOUBLE_EQ(values["sectors of a request"], 8);
}

// One access waits for lines, another for sectors.
TEST(GlobalScattered, IsWhereMostOfTheTimeIsLost) {
  for (const auto& [of_lines, of_sectors, line] : {std::tuple(30.0, 5.0, kLoad), std::tuple(5.0, 30.0, kStore)}) {
    Input in;
    in.at(kLoad).lines = in.at(kLoad).passes = 64000;
    in.stall(TermKind::l1_lines, kLoad, of_lines);
    in.at(kStore).sectors = 6250, in.at(kStore).lines = in.at(kStore).passes = 1564;
    in.stall(TermKind::l2_bandwidth, kStore, of_sectors);
    const auto found = look(RuleId::global_scattered, in.facts);
    ASSERT_TRUE(found);
    EXPECT_EQ(line_of(*found), line) << of_lines;
  }
}

TEST(Neighbours, AreLegalAndUnwarned) {
  Input in;
  const auto all = [&] {
    std::vector<int64_t> rows;
    for (const Config& config :
         neighbours(in.kernel, in.facts.seen.experiment.problem, in.facts.seen.experiment.config, in.spec))
      rows.push_back(config.knobs.at("ROWS"));
    return rows;
  };
  EXPECT_EQ(all(), (std::vector<int64_t>{16, 64}));
  in.kernel.warns = {{"ROWS == 64", "expect nothing good"}};
  EXPECT_EQ(all(), (std::vector<int64_t>{16}));
  in.kernel.requires_ = {{"ROWS >= 32", "too few rows"}};
  EXPECT_TRUE(all().empty());
}

TEST(Lone, TheBarriersTimeGoesToThePhasesThatFewWarpsDo) {
  Input in;
  in.facts.warps["score"] = {400, 0, 0, 0};
  const auto lone = lone_phases(in.facts);
  ASSERT_EQ(lone.size(), 1u);
  EXPECT_EQ(lone[0].phase, "score");
  EXPECT_DOUBLE_EQ(lone[0].working, 1);
  EXPECT_DOUBLE_EQ(lone[0].waited, 1.5);
  EXPECT_GT(stretch(in.facts, "score"), 1);
  EXPECT_DOUBLE_EQ(stretch(in.facts, "sum"), 1);
}

}  // namespace
}  // namespace attnscope::explain
