#include "cli/run_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(const Observation& observation) {
  std::vector<std::string> lines;
  std::istringstream in(text_of(observation, "NUM_WARPS=4"));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
// Returns the lines without those of the kernel, the problem and the device, which every run has.
std::vector<std::string> rest_of(const Observation& observation) {
  std::vector<std::string> lines = lines_of(observation);
  lines.erase(lines.begin(), lines.begin() + 3);
  return lines;
}

TEST(RunText, EveryRunHasItsKernelProblemAndDevice) {
  Observation o;
  o.experiment.kernel = "tiled";
  o.device = "cuda:0";
  EXPECT_THAT(lines_of(o), ElementsAre("kernel         tiled  NUM_WARPS=4",
                                       "problem        " + short_text(o.experiment.problem), "device         cuda:0"));
  o.versions.cublas = "13.1.0";
  EXPECT_EQ(lines_of(o).at(2), "device         cuda:0, cuBLAS 13.1.0");
}

TEST(RunText, AMeasuredTimeSaysHowItWasMeasured) {
  Observation o;
  Timing& t = o.timing.emplace();
  t.kind = FigureKind::measured;
  t.p50 = 12.34;
  t.interval_low = 12.26;
  t.interval_high = 12.51;
  EXPECT_THAT(rest_of(o), ElementsAre("latency        12.34 us measured (12.26 to 12.51)"));
  o.fragment_cycles = FragmentCycles{FigureKind::measured, 2, 410, 412.5, 415};
  EXPECT_EQ(rest_of(o).back(), "fragment       412.5 clocks a CTA measured (410.0 to 415.0)");
  o.fragment_cycles = FragmentCycles{FigureKind::measured, 1, 412.5, 412.5, 412.5};
  EXPECT_EQ(rest_of(o).back(), "fragment       412.5 clocks a CTA measured") << "one sample has no range";
  o.fragment_cycles.reset();
  o.tflops = 23.456;
  t.bound = Bound::shared_memory;
  t.cache = CacheState::cold;
  t.samples = 640;
  Sampling& s = t.sampling.emplace();
  s.rounds = {{1}, {2}, {3}};
  s.stopped = Stopped::stable;
  EXPECT_THAT(rest_of(o),
              ElementsAre("latency        12.34 us measured (12.26 to 12.51), 23.5 TFLOP/s, bound by shared memory",
                          "               cold, 640 samples in 3 rounds, stable"));
  t.clock_mhz = 1980.4;
  s.power_w = 69.6;
  s.power_limit_w = 72;
  s.reasons = {"power cap", "thermal slowdown"};
  s.dropped = 5;
  s.empty_us = 2.04;
  EXPECT_EQ(rest_of(o).at(1),
            "               cold, 640 samples in 3 rounds, stable, 1980 MHz, 70 of 72 W, power cap, thermal slowdown, "
            "5 left out, an empty kernel 2 us");
}

TEST(RunText, AModelledTimeSaysItsTerms) {
  Observation o;
  Timing& t = o.timing.emplace();
  t.p50 = 10;
  t.terms.emplace().list = {{TermKind::issue, 10, {{16, "k.cu:3", 10, 32, "k.cu:4"}}}};
  t.terms->phases = {{"score", 10, {{TermKind::issue, 10}}}};
  const auto lines = rest_of(o);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[1], testing::StartsWith("terms          issue 100"));
  EXPECT_THAT(lines[2], testing::StartsWith("               100.0 % at k.cu:3"));
  EXPECT_THAT(lines[3], testing::StartsWith("               score 100"));
}

// For a GPU, which measures all steps together.
TEST(RunText, ALaunchThatIsNotTimedByItselfHasNoTimeOfAnyKind) {
  Observation o;
  o.timing.emplace().kind = FigureKind::measured;
  o.launches.resize(2);
  o.launches[0].name = "row_max";
  o.launches[0].occupancy.emplace().fraction = 1;
  o.launches[1].name = "memset sums";
  const auto lines = rest_of(o);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "launches       1 row_max: occupancy 100.0 %");
  EXPECT_EQ(lines[2], "               2 memset sums");
  o.launches[1].timing.emplace().p50 = 2;
  EXPECT_THAT(rest_of(o)[2], testing::EndsWith("2 memset sums: 2.00 µs modelled, 100.0 %"));
}

// docs/writing-a-kernel.md and docs/benching.md say about runs on a GPU what the recordings hold.
TEST(RunText, TheDocsSayWhatTheRecordingsOfOwnKernelsHold) {
  const auto text_at = [](const char* file) {
    std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/" + file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string programs = text_at("bench/results/programs_h200.txt"), docs = text_at("docs/writing-a-kernel.md");
  for (const char* said : {"softmax3 5.8 us", "split_k 3.4 us"}) {
    EXPECT_THAT(docs, HasSubstr(said));
    const std::string_view line = said;
    const std::string kernel(line.substr(0, line.find(' '))), time(line.substr(line.find(' ') + 1));
    const size_t at = programs.find("--kernel " + kernel + " ");
    ASSERT_NE(at, std::string::npos) << kernel;
    EXPECT_THAT(programs.substr(at, programs.find("attnscope", at) - at), HasSubstr(time + " measured"));
    EXPECT_THAT(programs.substr(at, programs.find("attnscope", at) - at), HasSubstr("correct, relative Frobenius"));
  }
  const std::string own = text_at("bench/results/own_kernels_h200.txt");
  EXPECT_THAT(text_at("docs/benching.md"), HasSubstr("both launchers with no element wrong"));
  EXPECT_THAT(own, HasSubstr("y: 0 of 4096 elements wrong"));
  EXPECT_THAT(own, HasSubstr("y: 0 elements wrong"));
}

TEST(RunText, AVerdictSaysItsErrorsWhereRowsWereChecked) {
  Observation o;
  Verdict& v = o.verdict.emplace();
  v.reason = "no reference";
  EXPECT_EQ(rest_of(o).front(), "verdict        unchecked: no reference");
  EXPECT_EQ(rest_of(o).size(), 2u);
  EXPECT_THAT(rest_of(o).back(), HasSubstr("watch          none: races"));
  v.state = VerdictState::wrong;
  v.reason = "far off";
  v.rows_checked = 1024;
  v.rows_total = 4096;
  v.rel_frobenius = 0.01234;
  v.rel_frobenius_limit = 0.000488;
  v.max_abs = 0.5;
  v.mean_abs = 0.25;
  v.cosine = 0.9999994;
  v.outside_share = 0.0123456;
  v.nonfinite = 7;
  EXPECT_EQ(rest_of(o)[0], "verdict        wrong: far off");
  EXPECT_EQ(rest_of(o)[1],
            "error          relative Frobenius 0.0123 (limit 0.000488), max 0.5, mean 0.25, cosine 0.999999");
  EXPECT_EQ(rest_of(o)[2], "               1.235 % outside tolerance, 7 not finite, 1,024 of 4,096 rows checked");
}

TEST(RunText, AgreementWithAKernelIsNotCalledCorrect) {
  Observation o;
  Verdict& v = o.verdict.emplace();
  v.state = VerdictState::correct;
  v.against = "naive THREADS=64";
  v.reason = "agreement with the kernel naive THREADS=64, which is not known to be right";
  EXPECT_EQ(rest_of(o)[0], "verdict        " + v.reason);
  v.state = VerdictState::wrong;
  v.reason = "far off";
  EXPECT_EQ(rest_of(o)[0], "verdict        differs from the kernel naive THREADS=64: far off");
  o.watch.emplace().findings.push_back({RuleId::race_shared, Severity::error, "two warps write tile", {}, {}, {}, {}});
  EXPECT_EQ(rest_of(o)[0], "verdict        race; the output itself differs from the kernel naive THREADS=64: far off");
  v.state = VerdictState::correct;
  EXPECT_EQ(rest_of(o)[0], "verdict        race; the output itself agrees with the kernel naive THREADS=64");
}

TEST(RunText, AnErrorOfTheWatchTakesTheVerdictsPlace) {
  Observation o;
  o.verdict.emplace().state = VerdictState::correct;
  WatchReport& w = o.watch.emplace();
  w.ctas = 8;
  w.total_ctas = 1024;
  w.fills = 3;
  w.orders = 8;
  EXPECT_THAT(rest_of(o), ElementsAre("verdict        correct",
                                      "watch          silent: 8 of 1,024 CTAs, 3 contents of shared memory, 8 orders "
                                      "of the warps"));
  w.findings.push_back({RuleId::race_shared, Severity::error, "two warps write tile", {}, {}, {}, {}});
  w.total_ctas = 8;
  EXPECT_THAT(rest_of(o), ElementsAre("verdict        race; the output itself is correct",
                                      "watch          1 finding: all CTAs, 3 contents of shared memory, 8 orders of "
                                      "the warps",
                                      "error          two warps write tile"));
  w.findings.push_back({RuleId::race_warp, Severity::warning, "in a warp", {}, {}, {}, {}});
  EXPECT_THAT(rest_of(o).at(1), HasSubstr("2 findings: "));
  EXPECT_EQ(rest_of(o).at(3), "warning        in a warp");
}

TEST(RunText, CodeSharedMemoryAndOccupancy) {
  Observation o;
  VariantInfo& v = o.variant.emplace();
  v.registers = 96;
  v.spill_bytes = 12;
  v.stack_bytes = 16;
  v.static_shared_bytes = 1024;
  v.dynamic_shared_bytes = 40960;
  v.shared_buffers = {{"tile", 40960, true}, {"sums", 1024, false}};
  v.arch = 89;
  v.compile_ms = 812.4;
  v.code_hash = "0123456789abcdef";
  Occupancy& occupancy = o.occupancy.emplace();
  occupancy.fraction = 0.3333;
  occupancy.ctas_per_sm = 2;
  occupancy.warps_per_sm = 16;
  occupancy.limiter = Limiter::shared_memory;
  occupancy.waves = 1.103;
  occupancy.total_ctas = 1280;
  occupancy.resident_ctas = 1160;
  EXPECT_THAT(
      rest_of(o),
      ElementsAre("registers      96 per thread, 12 B spilled, 16 B stack",
                  "shared memory  41,984 B per CTA (1,024 static, 40,960 dynamic)",
                  "                  40,960 B tile (dynamic)", "                   1,024 B sums",
                  "compiled       sm_89, 812 ms, code 0123456789ab",
                  "options        fast math on, fmad on, maxrregcount none, launch bounds as written, compiler nvrtc",
                  "occupancy      33.3 % (2 CTAs, 16 warps per SM), limited by shared memory",
                  "               1.10 waves: 1,280 CTAs for 1,160 places"));
  v.cached = true;
  occupancy.tail_ctas = 1200;
  EXPECT_EQ(rest_of(o).at(4), "compiled       sm_89, 812 ms (from the cache), code 0123456789ab");
  EXPECT_EQ(rest_of(o).back(), "               1.10 waves: 1,280 CTAs for 1,160 places, the last wave runs 1,200");
}

TEST(RunText, ARunInWhichNoThreadStoresSaysSo) {
  Observation o;
  o.counters.emplace().global_store_sectors = 1;
  EXPECT_THAT(text_of(o, ""), testing::Not(HasSubstr("no thread stores anything")));
  o.counters->global_store_sectors = 0;
  EXPECT_THAT(text_of(o, ""), HasSubstr("stores         none: no thread stores anything"));
}

TEST(RunText, CountersAreGroupsOfFigures) {
  Observation o;
  Counters& c = o.counters.emplace();
  c.emulated_ctas = c.total_ctas = 16;
  c.instructions = {{"total", 1234}};
  c.global_load_sectors = 5678;
  c.global_store_sectors = 1;
  const auto lines = rest_of(o);
  ASSERT_GT(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::StartsWith("counters       counted "));
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_TRUE(lines[i].starts_with(std::string(15, ' '))) << lines[i];
    EXPECT_THAT(lines[i], testing::ContainsRegex(": [^;]+(; [^;]+)*$"));
  }
  EXPECT_THAT(text_of(o, ""), HasSubstr("1,234"));
  EXPECT_THAT(text_of(o, ""), HasSubstr("5,678"));
}

TEST(RunText, WhatTheKernelPrintedIsEscapedAndCounted) {
  Observation o;
  o.printed = Printed{{"a\x1b[2J", "b"}, 1032};
  o.findings.push_back({RuleId::bank_conflicts, Severity::warning, "a finding", {}, {}, {}, {}});
  o.findings.push_back({RuleId::bound_roof, Severity::info, "a note, for explain", {}, {}, {}, {}});
  const auto lines = rest_of(o);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], testing::StartsWith("printed        a"));
  EXPECT_THAT(lines[0], testing::Not(HasSubstr("\x1b")));
  EXPECT_EQ(lines[1], "               b");
  EXPECT_EQ(lines[2], "               and 1,032 times more");
  EXPECT_EQ(lines[3], "warning        a finding");
  o.printed = Printed{{}, 2};
  EXPECT_EQ(rest_of(o).front(), "printed        and 2 times more");
  o.printed = Printed{{"a"}, 0};
  EXPECT_EQ(rest_of(o).size(), 2u);
}

TEST(RunText, NamesTheCompileOptionsOfTheRun) {
  Observation o;
  o.variant.emplace();
  o.experiment.config.options = {.fast_math = true, .fmad = false, .maxrregcount = 64};
  EXPECT_THAT(
      text_of(o, ""),
      HasSubstr("options        fast math on, fmad off, maxrregcount 64, launch bounds as written, compiler nvrtc\n"));
  o.experiment.config.options = {};
  EXPECT_THAT(text_of(o, ""), HasSubstr("maxrregcount none, launch bounds as written, compiler nvrtc\n"));
}

// References of other kinds than attention have a tolerance only for each element.
TEST(RunText, AnErrorWithoutALimitNamesNone) {
  Observation o;
  o.verdict.emplace();
  o.verdict->rows_checked = 4;
  o.verdict->rel_frobenius = 0.5;
  EXPECT_THAT(text_of(o, ""), HasSubstr("relative Frobenius 0.5, max"));
  o.verdict->rel_frobenius_limit = 0.25;
  EXPECT_THAT(text_of(o, ""), HasSubstr("relative Frobenius 0.5 (limit 0.25), max"));
}

}  // namespace
}  // namespace attnscope::cli
