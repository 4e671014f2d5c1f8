// What docs/measuring.md says of a GPU's own counters is what bench/results/cupti_h200.json holds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace attnscope::cuda_api {
namespace {

std::string text_of(const char* file) {
  std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

double percent_between(double a, double b) { return b == 0 ? 0 : 100 * std::abs(a / b - 1); }

TEST(CuptiRecording, TheDocsSayWhatItHolds) {
  const auto recorded = nlohmann::json::parse(text_of("bench/results/cupti_h200.json"));
  int equal = 0;
  double longer = 0, shortest = 0, wavefronts = 0;  // %, largest differences
  for (const auto& one : recorded.at("kernels")) {
    const auto &own = one.at("attnscope"), &ncu = one.at("ncu"), &emulator = one.at("emulator");
    for (const auto& [name, counted] : emulator.items()) {
      EXPECT_EQ(own.at(name).get<double>(), ncu.at(name).get<double>()) << name;
      equal += own.at(name).get<double>() == ncu.at(name).get<double>();
      if (name != "shared_wavefronts") {
        EXPECT_EQ(own.at(name), counted) << name;
      } else {
        wavefronts = std::max(wavefronts, percent_between(counted, own.at(name)));
      }
    }
    // Nsight Compute prints two decimals: of 0.01 nothing can be said.
    for (const char* name : {"sm_busy", "warps_active", "tensor_busy"}) {
      const double theirs = ncu.at(name), difference = percent_between(own.at(name), theirs);
      if (theirs < 1) continue;
      double& largest = one.at("kernel") == "mma" ? shortest : longer;
      largest = std::max(largest, difference);
    }
  }
  const std::string docs = text_of("docs/measuring.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("all {} totals of instructions", equal)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("differ by up to\n{:.1f} %", longer)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("microseconds by {:.1f} %", shortest)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("wavefronts are up to {:.1f} % fewer", wavefronts)));
}

}  // namespace
}  // namespace attnscope::cuda_api
