// Which config a finding proposes before any config is tried.
#include "explain/next.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "explain/explain.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

using Set = std::map<std::string, int64_t>;

void hold(Input& in, Knob knob) {
  in.facts.seen.experiment.config.knobs[knob.name] = knob.default_value;
  in.kernel.knobs.push_back(std::move(knob));
}

// What the rule's finding proposes; empty: no proposal.
Set proposed(const Input& in, RuleId rule) {
  const std::vector<Finding> findings = findings_of(in.facts);
  const auto found = std::ranges::find(findings, Rule(rule), &Finding::rule);
  EXPECT_NE(found, findings.end()) << Rule(rule).name();
  return found != findings.end() && found->next ? found->next->set : Set();
}

// Two CTAs of four warps on an SM that has room for 48 warps, and a load that warps wait for.
struct FewWarps : Input {
  FewWarps() {
    kernel.launch.block[0] = "32 * WARPS";
    hold(*this, {"WARPS", {{2, ""}, {4, ""}, {8, ""}, {16, ""}}, 4, ""});
    kernel.knobs.front().values = {{32, ""}};  // of the rows
    stall(TermKind::global_latency, kLoad, 20, kScore);
  }
};

// Halves whose products run on the FP32 pipe, and a knob that the manifest says makes some on Tensor Cores.
struct Products : Input {
  explicit Products(int64_t chosen = 0) {
    facts.seen.experiment.problem.dtype = DType::f16;
    hold(*this, {"PATH", {{0, ""}, {3, ""}, {7, ""}}, chosen, ""});
    kernel.tensor_products = "PATH == 3 ? 2 : PATH == 7 ? 1 : 0";
    at(kSum).lanes = facts.seen.experiment.problem.flops() / 2;
  }
};

TEST(NextProducts, TheConfigThatMakesMostOnTensorCores) {
  EXPECT_EQ(proposed(Products(0), RuleId::tensor_unused), (Set{{"PATH", 3}}));
  EXPECT_EQ(proposed(Products(7), RuleId::tensor_unused), (Set{{"PATH", 3}}));
}

TEST(NextProducts, NoneIfTheManifestSaysOfNoneOrOfNoMore) {
  EXPECT_EQ(proposed(Products(3), RuleId::tensor_unused), Set());
  Products unsaid;
  unsaid.kernel.tensor_products.clear();
  EXPECT_EQ(proposed(unsaid, RuleId::tensor_unused), Set());
  Products other;
  other.kernel.tensor_products = "ROWS > 0 ? 1 : 0";  // the same for every value of the knob
  EXPECT_EQ(proposed(other, RuleId::tensor_unused), Set());
}

TEST(NextProducts, OnlyALegalConfigThatDrawsNoWarning) {
  Products in;
  in.kernel.warns = {{"PATH == 3", "it is wrong"}};
  EXPECT_EQ(proposed(in, RuleId::tensor_unused), (Set{{"PATH", 7}}));
  in.kernel.requires_ = {{"PATH != 7", "it does not compile"}};
  EXPECT_EQ(proposed(in, RuleId::tensor_unused), Set());
}

TEST(NextWarps, TheFewestThatAreClearlyMore) {
  FewWarps in;
  EXPECT_EQ(proposed(in, RuleId::latency_exposed), (Set{{"WARPS", 8}}));
}

TEST(NextWarps, NoneIfTheLaunchHasNoMore) {
  FewWarps in;
  in.kernel.knobs.back().values = {{2, ""}, {4, ""}};
  EXPECT_EQ(proposed(in, RuleId::latency_exposed), Set());
}

TEST(NextWarps, NoneIfNoMoreFit) {
  FewWarps in;
  in.kernel.launch.static_shared = "2500 * WARPS * WARPS";  // two CTAs of 4 warps fit, none of 8
  EXPECT_EQ(proposed(in, RuleId::latency_exposed), Set());
}

// On a GPU, both proposals of more warps for a wait at a barrier were slower (bench/results/next_h200.json).
TEST(NextWarps, NoneForAWaitAtABarrier) {
  FewWarps in;
  in.stall(TermKind::barriers, kWait, 20);
  EXPECT_EQ(proposed(in, RuleId::barrier_wait), Set());
}

// 40 CTAs of 32 rows on 48 SMs.
struct FewCtas : Input {
  FewCtas() {
    kernel.launch.grid[0] = "ceil_div(seq_q, ROWS)";
    facts.seen.experiment.problem.seq_q = 32 * 40;
    facts.seen.occupancy->total_ctas = 40;
  }
};

TEST(NextEvenSms, SmallerTilesFillThem) {
  FewCtas in;
  in.kernel.knobs.front().values = {{32, ""}, {16, ""}, {27, ""}};  // 40, 80 and 48 CTAs
  EXPECT_EQ(proposed(in, RuleId::grid_small), (Set{{"ROWS", 27}}));
}

TEST(NextEvenSms, NoneWhereNoGridIsMoreEven) {
  FewCtas in;
  in.kernel.knobs.front().values = {{32, ""}, {16, ""}};  // 80 CTAs on 48 SMs are as uneven as 40
  EXPECT_EQ(proposed(in, RuleId::grid_small), Set());
}

// The estimate is for the proposed grid: 30 CTAs on 48 SMs in place of 10 still leave SMs idle.
TEST(NextEvenSms, TheEstimateIsTheProposalsPart) {
  FewCtas in;
  in.facts.seen.experiment.problem.seq_q = 960;
  in.facts.seen.occupancy->total_ctas = 10;
  in.kernel.knobs.front().values = {{96, ""}, {32, ""}};
  in.facts.seen.experiment.config.knobs["ROWS"] = 96;
  in.kernel.launch.static_shared = "1024";
  const std::vector<Finding> findings = findings_of(in.facts);
  const auto found = std::ranges::find(findings, Rule(RuleId::grid_small), &Finding::rule);
  ASSERT_NE(found, findings.end());
  ASSERT_TRUE(found->next);
  EXPECT_NEAR(*found->gain->estimated, (kTime - 3) * (1 - 10.0 / 30), 1e-6);
}

// Smaller tiles bring more warps to an SM, and a small grid's work to more SMs. What that saves counts if it is more
// than the wait that the warps hide.
TEST(NextWarps, AGridThatReachesMoreSmsCountsInTheEstimate) {
  const auto estimated = [](int64_t ctas) {
    FewCtas in;
    in.facts.seen.experiment.problem.seq_q = 128 * ctas;
    in.facts.seen.experiment.config.knobs["ROWS"] = 128;
    in.facts.seen.occupancy->total_ctas = ctas;
    in.kernel.knobs.front().values = {{128, ""}, {64, ""}};
    in.kernel.launch.static_shared = "1024";
    in.stall(TermKind::global_latency, kLoad, 20, kScore);
    const std::vector<Finding> findings = findings_of(in.facts);
    const auto found = std::ranges::find(findings, Rule(RuleId::latency_exposed), &Finding::rule);
    EXPECT_TRUE(found != findings.end() && found->next);
    return found != findings.end() && found->gain ? *found->gain->estimated : 0;
  };
  EXPECT_GT(estimated(24), 40) << "24 of 48 SMs have a CTA, then all";
  EXPECT_NEAR(estimated(48), 21.5, 1e-6) << "each SM has one already: only the wait";
}

// 12 CTAs of 128 rows in place of 96, on 48 SMs, and then 96 of 16.
struct Coarse : FewCtas {
  Coarse() {
    facts.seen.experiment.problem.seq_q = 128 * 12;
    facts.seen.experiment.config.knobs["ROWS"] = 128;
    facts.seen.occupancy->total_ctas = 12;
    kernel.knobs.front().values = {{128, ""}};
    kernel.launch.static_shared = "1024";
  }
  double saved(int64_t rows) {
    kernel.knobs.front().values = {{128, ""}, {rows, ""}};
    const std::vector<Finding> findings = findings_of(facts);
    const auto found = std::ranges::find(findings, Rule(RuleId::grid_small), &Finding::rule);
    EXPECT_TRUE(found != findings.end() && found->next);
    return found != findings.end() && found->gain ? *found->gain->estimated : 0;
  }
};
constexpr double kWork = kTime - 3;  // without the launch

TEST(NextEvenSms, WhatEveryCtaLoadsStays) {
  Coarse in;
  EXPECT_NEAR(in.saved(64), kWork / 2, 1e-6);
  in.at(kLoad).bytes = 3e6;  // each byte three times: the load takes 26.5 us
  EXPECT_NEAR(in.saved(64), (kWork - 26.5) / 2, 1e-6);
  in.facts.distinct_bytes = 0;  // not known
  EXPECT_NEAR(in.saved(64), kWork / 2, 1e-6);
}

TEST(NextEvenSms, CtasOnTheSameSchedulersCostTime) {
  Coarse in;
  const double latencies = 7 / kWork;
  EXPECT_NEAR(in.saved(16), kWork * (1 - ((1 - latencies) * 2 + latencies) / 8), 1e-6) << "two CTAs on an SM";
  in.kernel.launch.block[0] = "64";
  in.facts.shape.block = {64, 1, 1};
  in.facts.seen.occupancy->warps_per_sm = 2 * in.facts.seen.occupancy->ctas_per_sm;
  EXPECT_NEAR(in.saved(16), kWork * (1 - 1.0 / 8), 1e-6) << "their four warps have a scheduler each";
}

TEST(NextEvenSms, NoneWhereAllOfTheWorkStays) {
  Coarse in;
  in.at(kLoad).bytes = 3e6;
  for (Instruction& one : in.facts.code) one.phase = "load";
  in.kernel.knobs.front().values = {{128, ""}, {64, ""}};
  EXPECT_EQ(proposed(in, RuleId::grid_small), Set());
}

TEST(NextEvenSms, NotWithFewerWarps) {
  FewCtas in;
  in.kernel.knobs.front().values = {{32, ""}, {27, ""}};
  in.kernel.launch.block[0] = "ROWS == 32 ? 1024 : 32";
  in.facts.shape.block = {1024, 1, 1};
  in.facts.seen.occupancy->warps_per_sm = 32, in.facts.seen.occupancy->ctas_per_sm = 1;
  EXPECT_EQ(proposed(in, RuleId::grid_small), Set());
}

// A coarser grid would have no tail, but only because it leaves SMs without a CTA.
TEST(NextEvenSms, IdleSmsAreNotEven) {
  Input in;
  in.facts.seen.experiment.problem.seq_q = 32 * 50;
  in.facts.seen.occupancy->total_ctas = 50;
  in.stall(TermKind::tail, 0, 20);
  in.kernel.knobs.front().values = {{32, ""}, {64, ""}};  // 25 CTAs
  EXPECT_EQ(proposed(in, RuleId::grid_tail), Set());
}

struct Conflicts : Input {
  Conflicts() {
    at(kScore).wavefronts = 320000;
    stall(TermKind::bank_conflicts, kScore, 30);
  }
};

TEST(NextLayout, ASwizzleThatIsOffIsSwitchedOn) {
  Conflicts in;
  in.kernel.source += "int place(int row, int chunk) { return chunk ^ (FLIP ? row & 7 : 0); }\n";
  hold(in, {"FLIP", {{0, ""}, {1, ""}}, 0, ""});
  EXPECT_EQ(proposed(in, RuleId::bank_conflicts), (Set{{"FLIP", 1}}));
  in.facts.seen.experiment.config.knobs["FLIP"] = 1;
  EXPECT_EQ(proposed(in, RuleId::bank_conflicts), Set());
}

TEST(NextLayout, ASwizzleInAFunctionOfItsOwn) {
  Conflicts in;
  in.kernel.source +=
      "int flip(int row) {\n  if (!FLIP) return 0;\n  return row & 7;\n}\n"
      "int place(int row, int chunk) { return chunk ^ flip(row); }\n";
  hold(in, {"FLIP", {{0, ""}, {1, ""}}, 0, ""});
  EXPECT_EQ(proposed(in, RuleId::bank_conflicts), (Set{{"FLIP", 1}}));
}

TEST(NextLayout, AKnobWithoutAnXorIsNone) {
  Conflicts in;
  in.kernel.source += "int place(int a, int b) { return KEEP ? a : b; }\nint other(int a) { return a ^ 1; }\n";
  hold(in, {"KEEP", {{0, ""}, {1, ""}}, 0, ""});
  EXPECT_EQ(proposed(in, RuleId::bank_conflicts), Set());
}

TEST(NextLayout, TheLeastPaddingOfARow) {
  Conflicts in;
  in.kernel.source += "constexpr int kRow = 64 + PAD;\n";
  hold(in, {"PAD", {{0, ""}, {16, ""}, {8, ""}}, 0, ""});
  EXPECT_EQ(proposed(in, RuleId::bank_conflicts), (Set{{"PAD", 8}}));
  in.facts.seen.experiment.config.knobs["PAD"] = 8;
  EXPECT_EQ(proposed(in, RuleId::bank_conflicts), Set());
}

// A row of 65 floats ends within a float4.
TEST(NextLayout, NoPaddingThatAWideAccessDoesNotBear) {
  for (const char* source : {"__shared__ float tile[64][64 + PAD];\n",
                             "constexpr int kRow = 64 + PAD;\n__shared__ __align__(16) float tile[64 * kRow];\n"}) {
    Conflicts in;
    in.kernel.source += source;
    EXPECT_EQ(padded_element(in.kernel, "PAD"), 4) << source;
    hold(in, {"PAD", {{0, ""}, {1, ""}, {4, ""}, {8, ""}}, 0, ""});
    EXPECT_EQ(proposed(in, RuleId::bank_conflicts), (Set{{"PAD", 1}})) << "nothing is recorded";
    for (const auto& [bytes, padding] : {std::pair{4, 1}, {16, 4}}) {
      SharedSteps steps;
      steps.shapes = {{.mask = 0xffffffff, .bytes = bytes, .use = SharedUse::load}};
      const std::map<uint32_t, SharedSteps> recorded{{0, steps}};
      in.facts.shared = &recorded;
      EXPECT_EQ(proposed(in, RuleId::bank_conflicts), (Set{{"PAD", padding}})) << source << bytes;
      in.facts.shared = nullptr;
    }
  }
}

TEST(NextLayout, TheManifestSaysPaddingToo) {
  Kernel kernel;
  EXPECT_FALSE(is_padding(kernel, "PAD"));
  kernel.shared_map = {{"tile", "2 * ROWS * (head_dim + PAD)"}};
  EXPECT_TRUE(is_padding(kernel, "PAD"));
  EXPECT_FALSE(is_padding(kernel, "ROWS"));
}

TEST(NextWide, AWiderTypeUpToTheWidestAccess) {
  for (const char* type : {"#if WIDTH >= 4\nusing Vector = uint4;\n#else\nusing Vector = short;\n#endif\n",
                           "using Vector = Of<WIDTH>::Type;\n"}) {
    Input in;
    in.at(kLoad).width = 4;
    in.kernel.source += type;
    hold(in, {"WIDTH", {{1, ""}, {2, ""}, {4, ""}, {8, ""}}, 1, ""});
    EXPECT_EQ(proposed(in, RuleId::global_narrow), (Set{{"WIDTH", 4}})) << type;
    in.facts.seen.experiment.config.knobs["WIDTH"] = 8;
    EXPECT_EQ(proposed(in, RuleId::global_narrow), Set()) << type;
  }
}

TEST(NextWide, AKnobOfALengthIsNoWidth) {
  Input in;
  in.at(kLoad).width = 4;
  in.kernel.source += "#if WIDTH > 1\n#endif\nusing Vector = float;\nconstexpr int kTimes = WIDTH;\n";
  hold(in, {"WIDTH", {{1, ""}, {2, ""}, {4, ""}}, 1, ""});
  EXPECT_EQ(proposed(in, RuleId::global_narrow), Set());
}

// A remedy that changes the source has a line, and no config.
TEST(NextSource, IsALine) {
  Input in;
  in.stall(TermKind::l2_bandwidth, kLoad, 15);
  in.facts.distinct_bytes = 1e5;
  const std::vector<Finding> findings = findings_of(in.facts);
  const auto found = std::ranges::find(findings, Rule(RuleId::global_repeated), &Finding::rule);
  ASSERT_NE(found, findings.end());
  EXPECT_FALSE(found->next);
  EXPECT_EQ(found->where.at("line"), "10");
}

}  // namespace
}  // namespace attnscope::explain
