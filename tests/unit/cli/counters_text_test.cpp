#include "cli/counters_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sampled_line.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;

Observation profiled() {
  Observation o;
  o.experiment.kernel = "tiled";
  o.device = "cuda:0";
  HardwareCounters& hardware = o.hardware.emplace();
  hardware.cupti = "2025.3.1";
  hardware.passes = 8;
  hardware.warp_instructions = 10000;
  Counters& counters = o.counters.emplace();
  counters.instructions = {{"total", 10000}};
  counters.emulated_ctas = counters.total_ctas = 128;
  return o;
}

TEST(CountersText, SaysHowEachColumnCameAbout) {
  const std::string text = counters_text(profiled(), "NUM_WARPS=4");
  EXPECT_THAT(text, HasSubstr("hardware       measured with CUPTI 2025.3.1 in 8 passes, caches hot, nothing timed\n"));
  EXPECT_THAT(text, HasSubstr("emulator       counted from the same machine code, exact, all 128 CTAs\n"));
  EXPECT_THAT(text, HasSubstr("warp instructions                    10,000               10,000  equal\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("latency")));
}

TEST(CountersText, WithoutHardwareTheCountsStand) {
  Observation o = profiled();
  o.hardware = HardwareCounters{};
  o.hardware->failure = Failure{Stage::device, "no permission", ""};
  const std::string text = counters_text(o, "");
  EXPECT_THAT(text, HasSubstr("hardware       none: stderr says why\n"));
  EXPECT_THAT(text, HasSubstr("exact, all 128 CTAs"));
  EXPECT_THAT(text, HasSubstr("10,000\n")) << "the emulator's, with no difference";
}

SampledLine sampled(int64_t line, double share, std::optional<double> modelled, std::vector<SampledStall> stalls) {
  SampledLine made;
  made.samples = static_cast<int64_t>(20000 * share);
  made.stalls = std::move(stalls);
  made.file = "src/a.cu";
  made.line = line;
  made.share = share;
  made.modelled = modelled;
  return made;
}

TEST(CountersText, SampledLinesStandBesideTheModelsShare) {
  Observation o = profiled();
  Finding& taken = o.findings.emplace_back();
  taken.rule = Rule(RuleId::samples_taken);
  taken.sentence = "20,000 samples in 1 launch.";
  o.findings.push_back(to_finding(sampled(203, 0.75, 0.625, {{"long_scoreboard", 12000}, {"selected", 3000}}), ""));
  o.findings.push_back(to_finding(sampled(7, 0.25, {}, {{"selected", 5000}}), ""));
  const std::string text = counters_text(o, "");
  EXPECT_THAT(text, HasSubstr("samples        20,000 samples in 1 launch.\n"));
  EXPECT_THAT(text,
              HasSubstr("a.cu:203                             75.0 %               62.5 %  long scoreboard 80 %\n"));
  EXPECT_THAT(text, HasSubstr("a.cu:7                               25.0 %                    \u2013\n"))
      << "nothing waits there, and the model does not say";
}

TEST(CountersText, WithoutSamplesTheCountersStand) {
  Observation o = profiled();
  Finding& refused = o.findings.emplace_back();
  refused.rule = Rule(RuleId::samples_refused);
  refused.sentence = "no permission. Become root.";
  EXPECT_THAT(counters_text(o, ""), HasSubstr("samples        none: no permission. Become root.\n"));
  EXPECT_THAT(counters_text(o, ""), HasSubstr("10,000"));
  EXPECT_THAT(counters_text(profiled(), ""), testing::Not(HasSubstr("samples"))) << "nothing says so";
}

}  // namespace
}  // namespace attnscope::cli
