#include "cli/counters_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace attnscope::cli
