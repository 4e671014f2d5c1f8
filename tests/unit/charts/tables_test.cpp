#include "charts/tables.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "charts/compared_settings.h"
#include "charts/format.h"
#include "charts/memory_stack.h"
#include "charts/words.h"
#include "unit/model/devices_for_tests.h"

namespace attnscope::charts {
namespace {

std::string text_of(const std::vector<FigureRow>& rows) {
  std::string text;
  for (const FigureRow& row : rows)
    text +=
        row.name + ": " + row.value + (row.note.empty() ? "" : " (" + row.note + ")") + (row.bad ? " !" : "") + "\n";
  return text;
}

TEST(CounterGroups, SayEveryCountWithItsShare) {
  Counters counters;
  counters.kind = FigureKind::counted;
  counters.instructions = {{"total", 1000}, {"float", 600}, {"shared_load", 390}, {"barrier", 10}, {"tensor", 0}};
  counters.threads = 25'600;
  counters.active_lanes_mean = 25.6;
  counters.barriers = 40;
  counters.shared_wavefronts = 800;
  counters.shared_wavefronts_ideal = 600;
  counters.shared_bank_conflicts = 200;
  counters.global_load_sectors = 3200;
  counters.global_store_sectors = 64;
  counters.local_sectors = 7;
  const auto groups = counter_groups(counters);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].title, "Warp instructions");
  EXPECT_EQ(text_of(groups[0].rows),
            "total: 1,000\nfloat: 600 (60.0 %)\nshared load: 390 (39.0 %)\nbarrier: 10 (1.0 %)\n");
  EXPECT_EQ(text_of(groups[1].rows),
            "thread instructions: 25,600\nactive lanes, mean: 25.60 (of 32)\nbarrier arrivals: 40\n");
  EXPECT_EQ(
      text_of(groups[2].rows),
      "wavefronts: 800\nwavefronts, ideal: 600 (without conflicts)\nbank conflicts: 200 (25.0 % of wavefronts)\n");
  // A sector is 32 bytes: 3,200 of them are 100 KB.
  EXPECT_EQ(text_of(groups[3].rows), "load sectors: 3,200 (100 KB)\nstore sectors: 64 (2 KB)\nlocal sectors: 7\n");
}

TEST(CounterGroups, WithoutATotalTheClassesAreSummed) {
  Counters counters;
  counters.instructions = {{"float", 30}, {"integer", 10}};
  EXPECT_EQ(text_of(counter_groups(counters)[0].rows), "total: 40\nfloat: 30 (75.0 %)\ninteger: 10 (25.0 %)\n");
  EXPECT_EQ(text_of(counter_groups(Counters{})[2].rows),
            "wavefronts: 0\nwavefronts, ideal: 0 (without conflicts)\nbank conflicts: 0\n");
}

Observation program() {
  Observation seen;
  seen.launches.resize(3);
  const char* const names[] = {"row_max", "memset sums", "exp_sum"};
  const double times[] = {5, 5, 30};
  for (size_t i = 0; i < 3; ++i) {
    seen.launches[i].name = names[i];
    seen.launches[i].timing.emplace();
    seen.launches[i].timing->p50 = times[i];
    if (i == 1) continue;
    seen.launches[i].variant.emplace();
    seen.launches[i].variant->registers = 16;
    seen.launches[i].counters.emplace();
    seen.launches[i].counters->instructions["total"] = 1200;
  }
  seen.variant = seen.launches[2].variant;
  return seen;
}

TEST(LaunchGroups, NameEachStepWithItsShareOfTheTime) {
  const Observation seen = program();
  const auto groups = launch_groups(seen);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(text_of(groups[0].rows), "1 row_max: " + us_text(5) + " (12.5 %, 1,200 warp instructions, 16 registers)\n" +
                                         "2 memset sums: " + us_text(5) + " (12.5 %)\n" + "3 exp_sum: " + us_text(30) +
                                         " (75.0 %, 1,200 warp instructions, 16 registers)\n");
  EXPECT_EQ(groups[0].rows[0].kind, FigureKind::modelled);
  EXPECT_TRUE(groups[0].rows[0].baseline.empty());
  EXPECT_TRUE(launch_groups(Observation{}).empty());
}

TEST(LaunchGroups, AStepThatIsNotTimedByItselfHasNoTime) {
  Observation seen = program();
  for (LaunchFigures& one : seen.launches) one.timing.reset();
  EXPECT_EQ(text_of(launch_groups(seen)[0].rows),
            "1 row_max:  (1,200 warp instructions, 16 registers)\n2 memset sums: \n"
            "3 exp_sum:  (1,200 warp instructions, 16 registers)\n");
}

TEST(LaunchGroups, ShowABaselineOfTheSameSteps) {
  Observation seen = program(), before = program();
  before.launches[2].timing->p50 = 40;
  EXPECT_EQ(launch_groups(seen, &before)[0].rows[2].baseline, us_text(40));
  before.launches[2].name = "sum_exp";
  EXPECT_TRUE(launch_groups(seen, &before)[0].rows[2].baseline.empty());
}

TEST(LaunchGroups, TheLongestLaunchHasTheRegisters) {
  const Observation seen = program();
  EXPECT_EQ(longest_launch_words(seen), "launch 3 of 3, exp_sum, the longest");
  EXPECT_EQ(longest_launch_words(Observation{}), "");
  const auto named = [](const std::vector<ComparedRow>& rows, const std::string& name) {
    return std::ranges::count(rows, name, &ComparedRow::name);
  };
  EXPECT_EQ(named(compare(seen, seen), "registers, longest launch"), 1);
  EXPECT_EQ(named(compare(Observation{}, Observation{}), "registers"), 1);
}

TEST(CounterShare, SaysHowManyCtasWereCounted) {
  Counters counters;
  EXPECT_EQ(counter_share_text(counters), "exact");
  counters.total_ctas = 1;
  counters.emulated_ctas = 1;
  EXPECT_EQ(counter_share_text(counters), "exact, all 1 CTAs");
  counters.total_ctas = 2000;
  EXPECT_EQ(counter_share_text(counters), "sampled: 1 of 2,000 CTAs (5e-2 %)");
}

TEST(VerdictRows, SayEachFigureWithItsLimit) {
  Verdict verdict;
  verdict.state = VerdictState::wrong;
  verdict.rel_frobenius = 2e-3;
  verdict.rel_frobenius_limit = 1e-3;
  verdict.naive_rel_frobenius = 5e-4;
  verdict.max_abs = 0.5;
  verdict.mean_abs = 0.25;
  verdict.outside_share = 0.1;
  verdict.atol = verdict.rtol = 1e-3;
  verdict.nonfinite = 1;
  verdict.cosine = 0.5;
  verdict.rows_checked = 10;
  verdict.rows_total = 4096;
  EXPECT_EQ(text_of(verdict_rows(verdict)),
            "relative Frobenius: 2e-3 (limit 1e-3) !\nof naive fp32: 5e-4 (for scale)\nmax |error|: 0.5\n"
            "mean |error|: 0.25\noutside tolerance: 10.0 % (atol, rtol 1e-3) !\nmisplaced NaN, Inf: 1 (limit 0) !\n"
            "cosine: 0.500000\nrows checked: 10 (of 4,096)\n");
  verdict.rel_frobenius = 1e-3;  // at its limit
  verdict.naive_rel_frobenius = verdict.outside_share = 0;
  verdict.atol = 2e-3;
  verdict.nonfinite = 0;
  verdict.rows_total = 10;
  EXPECT_EQ(text_of(verdict_rows(verdict)),
            "relative Frobenius: 1e-3 (limit 1e-3)\nmax |error|: 0.5\nmean |error|: 0.25\n"
            "outside tolerance: 0 % (atol 2e-3, rtol 1e-3)\nmisplaced NaN, Inf: 0 (limit 0)\ncosine: 0.500000\n"
            "rows checked: 10 (all of them)\n");
}

Observation observed(double us, int64_t scale) {
  Observation o;
  o.timing.emplace().p50 = us;
  o.verdict.emplace().state = VerdictState::correct;
  o.verdict->rel_frobenius = 1e-4 * double(scale);
  VariantInfo& variant = o.variant.emplace();
  variant.static_shared_bytes = 1000 * scale;
  variant.dynamic_shared_bytes = 24 * scale;
  variant.registers = 16 * scale;
  variant.spill_bytes = 8 * scale;
  o.occupancy.emplace().ctas_per_sm = 2 * scale;
  o.occupancy->fraction = 0.25 * double(scale);
  Counters& counters = o.counters.emplace();
  counters.instructions = {{"total", 100 * scale}};
  counters.shared_bank_conflicts = 10 * scale;
  counters.global_load_sectors = 20 * scale;
  return o;
}

// If every figure doubles, costs are worse and occupancy is better.
TEST(Compare, SaysWhichWayIsBetter) {
  const auto rows = compare(observed(100, 1), observed(200, 2));
  std::string text;
  for (const ComparedRow& row : rows)
    text += row.name + ": " + row.before + " | " + row.after + " | " + row.change + " | " + std::to_string(row.better) +
            "\n";
  EXPECT_EQ(text,
            "latency, median: 100.0 \u00b5s modelled | 200.0 \u00b5s modelled | +100.0 % | -1\n"
            "verdict: correct | correct |  | 0\n"
            "relative Frobenius: 1e-4 | 2e-4 | +100.0 % | -1\n"
            "shared memory, B: 1,024 | 2,048 | +100.0 % | -1\n"
            "registers: 16 | 32 | +100.0 % | -1\n"
            "spills, B: 8 | 16 | +100.0 % | -1\n"
            "CTAs per SM: 2 | 4 | +100.0 % | 1\n"
            "occupancy: 25.0 % | 50.0 % | +100.0 % | 1\n"
            "warp instructions: 100 | 200 | +100.0 % | -1\n"
            "bank conflicts: 10 | 20 | +100.0 % | -1\n"
            "global load sectors: 20 | 40 | +100.0 % | -1\n");
  for (const ComparedRow& row : compare(observed(200, 2), observed(100, 1))) {
    if (row.name == "verdict") continue;
    EXPECT_TRUE(row.differs) << row.name;
    EXPECT_EQ(row.change, "\u221250.0 %") << row.name;
    EXPECT_EQ(row.better, row.name == "occupancy" || row.name == "CTAs per SM" ? -1 : 1) << row.name;
  }
  for (const ComparedRow& row : compare(observed(100, 1), observed(100, 1))) {
    EXPECT_FALSE(row.differs) << row.name;
    EXPECT_EQ(row.better, 0) << row.name;
  }
}

TEST(Compare, WhatIsMissingIsADash) {
  for (const ComparedRow& row : compare(Observation{}, observed(100, 1))) {
    EXPECT_EQ(row.before, "\u2013") << row.name;
    EXPECT_NE(row.after, "\u2013") << row.name;
    EXPECT_EQ(row.change, "") << row.name;
  }
  Observation from_none = observed(100, 1);
  from_none.counters->shared_bank_conflicts = 0;
  const auto rows = compare(from_none, observed(100, 1));
  EXPECT_EQ(rows[9].change, "") << "no share of none";
  EXPECT_EQ(rows[9].better, -1);
}

TEST(Compare, AnotherOfManyThingsHasNoBetterOne) {
  const Observation a = observed(100, 1);
  Observation b = observed(200, 2);
  b.experiment.measure.cache = CacheState::cold;
  EXPECT_EQ(compare(a, b)[0].change, "not comparable");
  EXPECT_EQ(compare(a, b)[4].better, -1) << "registers are what they are, whatever the cache";
  b.experiment.device = "cuda:0";
  EXPECT_EQ(compare(a, b)[0].change, "not comparable");
  EXPECT_EQ(compare(a, b)[4].better, 0);
  EXPECT_EQ(compare(a, b)[4].change, "");
}

TEST(UnlikeSentence, SaysBothSides) {
  const Observation a = observed(100, 1);
  Observation b = a;
  EXPECT_EQ(unlike_sentence(a, b), "");
  b.experiment.measure.cache = CacheState::cold;
  EXPECT_EQ(unlike_sentence(a, b), "hot cache against cold cache");
  b.versions.gpu = "NVIDIA L4";
  EXPECT_EQ(unlike_sentence(a, b), a.experiment.device + " against " + b.experiment.device + " (NVIDIA L4)");
  b = a;
  b.timing.reset();
  EXPECT_EQ(unlike_sentence(a, b), "one of them has no time");
  EXPECT_EQ(to_string(Unlike::cache), "another cache policy");
  EXPECT_EQ(to_string(Unlike::untimed), "no time");
}

TEST(ConfigWords, OptionsThatAreNotTheKernelsOwnAreNamed) {
  Kernel kernel;
  kernel.id = "tiled";
  Experiment experiment;
  experiment.kernel = "tiled";
  EXPECT_EQ(config_words(experiment, &kernel, ""), "tiled") << "it has no knob";
  experiment.config.options = {false, false, 64};
  EXPECT_EQ(config_words(experiment, &kernel, ""), "tiled, fast math off, fmad off, maxrregcount 64");
  kernel.options = experiment.config.options;
  EXPECT_EQ(config_words(experiment, &kernel, ""), "tiled");
  experiment.config.options = {true, true, 0};
  EXPECT_EQ(config_words(experiment, &kernel, ""), "tiled, fast math on, fmad on, maxrregcount none");
}

TEST(BoundSentence, AFewIdleLanesAreNotWorthAWord) {
  Observation seen = observed(100, 1);
  seen.timing->bound = Bound::arithmetic_units;
  for (const auto& [mean, said] : {std::pair{28.7, true}, {28.8, false}, {32.0, false}, {0.0, false}, {1.0, true}}) {
    seen.counters->active_lanes_mean = mean;
    EXPECT_EQ(bound_sentence(seen).find("lanes") != std::string::npos, said) << mean;
  }
  seen.timing->bound = Bound::global_latency;
  seen.occupancy->warps_per_sm = 1;
  EXPECT_EQ(bound_sentence(seen), "bound by global memory latency: 1 warp per SM to hide it behind");
}

TEST(ComparedSettings, OnlyWhatDiffersIsNamed) {
  Kernel kernel;
  kernel.knobs = {{"PATH", {{0, "scalar"}, {1, "tensor"}}, 0, ""}};
  Experiment a, b;
  a.config.knobs = {{"PATH", 0}, {"BLOCK_M", 16}};
  b.config.knobs = {{"PATH", 1}, {"BLOCK_M", 16}, {"STAGES", 2}};
  b.config.options = {!a.config.options.fast_math, a.config.options.fmad, 64};
  std::string text;
  for (const ComparedRow& row : compared_settings(a, b, &kernel, nullptr))
    text += row.name + ": " + row.before + " | " + row.after + "\n";
  EXPECT_EQ(text, "PATH: scalar | 1\nSTAGES: \u2013 | 2\nfast math: on | off\nmaxrregcount: none | 64\n");
  EXPECT_TRUE(compared_settings(a, a, &kernel, &kernel).empty());
}

DeviceSpec device() {
  DeviceSpec spec = model::l4();
  spec.name = "an L4";
  return spec;
}

TEST(LimiterSentence, SaysWhatEachResourceAllows) {
  VariantInfo variant;
  variant.registers = 96;
  variant.static_shared_bytes = 40000;
  variant.dynamic_shared_bytes = 12000;
  Occupancy occupancy;
  const auto said = [&](int64_t ctas, const char* limiter) {
    occupancy.ctas_per_sm = ctas;
    occupancy.warps_per_sm = 8 * ctas;
    occupancy.limiter = *parse_word<Limiter>(limiter);
    return limiter_sentence(variant, occupancy, device());
  };
  EXPECT_EQ(said(0, "registers"), "No CTA fits on an SM.");
  EXPECT_EQ(said(1, "shared memory"),
            "Shared memory limits it: 1 CTA takes 53,024 of 102,400 B, one more does not fit.");
  EXPECT_EQ(said(5, "registers"), "Registers limit it: 96 per thread of 65,536 per SM leave room for 5 CTAs.");
  EXPECT_EQ(said(6, "warps"), "The SM's 48 warps limit it: 6 CTAs take 48.");
  EXPECT_EQ(said(24, "CTAs"), "The SM's limit of 24 CTAs is the tightest.");
  EXPECT_EQ(said(2, "barriers"), "Limited by barriers: 2 CTAs per SM.");
  EXPECT_EQ(said(2, ""), "");
}

TEST(WavesSentence, SaysHowFullTheLastOneIs) {
  const auto said = [](int64_t total, int64_t resident) {
    Occupancy occupancy;
    occupancy.total_ctas = total;
    occupancy.resident_ctas = resident;
    occupancy.waves = resident > 0 ? double(total) / double(resident) : 0;
    occupancy.tail_ctas = resident > 0 ? total % resident : 0;
    return waves_sentence(occupancy);
  };
  EXPECT_EQ(said(100, 0), "");
  EXPECT_EQ(said(116, 116), "116 CTAs for 116 places: one full wave.");
  EXPECT_EQ(said(115, 116), "115 CTAs for 116 places: one wave, 1 of them empty.");
  EXPECT_EQ(said(232, 116), "232 CTAs for 116 places: 2 full waves.");
  EXPECT_EQ(said(117, 116), "117 CTAs for 116 places: 1.01 waves, 1 CTA left for the last.");
}

TEST(MemoryStack, ItsLimitsAreMarkedInTheirOrder) {
  VariantInfo variant;
  variant.static_shared_bytes = 49152;
  variant.dynamic_shared_bytes = 101376 - 49152;
  const MemoryStack stack = memory_stack(variant, nullptr, device());
  EXPECT_FALSE(stack.over_static) << "what is at its limit is not over it";
  EXPECT_FALSE(stack.over_optin);
  EXPECT_EQ(stack.ctas, 0);
  ASSERT_EQ(stack.marks.size(), 3u);
  EXPECT_EQ(stack.marks[1].label, "99 KB opt-in");
  EXPECT_EQ(stack.marks[2].label, "100 KB SM");
  EXPECT_EQ(stack.marks[0].bytes, 49152);
  ASSERT_EQ(stack.segments.size(), 2u);
  EXPECT_FALSE(stack.segments[0].dynamic);
  EXPECT_TRUE(stack.segments[1].dynamic);
  EXPECT_EQ(stack.segments[1].begin, 49152);
  variant.static_shared_bytes += 1;
  EXPECT_TRUE(memory_stack(variant, nullptr, device()).over_static);
  EXPECT_TRUE(memory_stack(variant, nullptr, device()).over_optin);
  DeviceSpec unknown = device();
  unknown.shared_static_block = unknown.shared_optin_block = unknown.shared_sm = 0;
  EXPECT_TRUE(memory_stack(variant, nullptr, unknown).marks.empty()) << "a limit that is not known is none";
}

TEST(Format, UnitsChangeAtRoundFigures) {
  EXPECT_EQ(us_text(9999), "9,999 \u00b5s");
  EXPECT_EQ(us_text(10000), "10.00 ms");
  EXPECT_EQ(us_text(99.99), "99.99 \u00b5s");
  EXPECT_EQ(us_text(100), "100.0 \u00b5s");
  EXPECT_EQ(us_text(999.94), "999.9 \u00b5s");
  EXPECT_EQ(kib_text(1024 * 9999), "9999 KB");
  EXPECT_EQ(kib_text(1024 * 10000), "9.8 MB");
  EXPECT_EQ(kib_text(1024 * 10240), "10.0 MB");
  EXPECT_EQ(kib_text(1536), "1.5 KB");
  EXPECT_EQ(count_text(9999), "9,999");
  EXPECT_EQ(count_text(10000), "10.0 k");
  EXPECT_EQ(count_text(123456), "123 k");
  EXPECT_EQ(count_text(1e6), "1.00 M");
  EXPECT_EQ(count_text(2.5e9), "2.50 G");
  EXPECT_EQ(count_text(12e12), "12.0 T");
  EXPECT_EQ(count_text(0.5), "0.50");
  EXPECT_EQ(percent_text(0.001), "0.1 %");
  EXPECT_EQ(percent_text(0.0005), "5e-2 %");
  EXPECT_EQ(signed_percent_text(0.0005), "+0.1 %");
  EXPECT_EQ(signed_percent_text(-0.0004), "\u00b10 %");
  EXPECT_EQ(error_text(0.01), "0.01");
  EXPECT_EQ(error_text(0.0099), "9.9e-3");
  EXPECT_EQ(error_text(999.9), "999.9");
  EXPECT_EQ(error_text(1000), "1e3");
  EXPECT_EQ(bytes_text(-1000), "-1,000 B");
}

TEST(RelativeError, OnlyComparedElementsHaveOne) {
  Observation seen;
  EXPECT_EQ(relative_error(seen), std::nullopt);
  seen.verdict = Verdict{};
  EXPECT_EQ(relative_error(seen), std::nullopt);
  seen.verdict->rows_checked = 10;  // against another kernel
  seen.verdict->rel_frobenius = 2e-3;
  EXPECT_EQ(relative_error(seen), 2e-3);
}

}  // namespace
}  // namespace attnscope::charts
