// docs/measuring.md says about a GPU's own counters what bench/results/cupti_h200.json holds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/with_commas.h"

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
  int equal = 0, totals = 0;
  double fewer = 0, of = 0;                         // of the totals that differ
  double longer = 0, shortest = 0, wavefronts = 0;  // %, largest differences
  for (const auto& one : recorded.at("kernels")) {
    const auto &own = one.at("attnscope"), &ncu = one.at("ncu"), &emulator = one.at("emulator");
    for (const auto& [name, counted] : emulator.items()) {
      const double ours = own.at(name), theirs = ncu.at(name);
      ++totals;
      equal += ours == theirs;
      if (ours != theirs) fewer += theirs - ours, of += theirs;
      if (name != "shared_wavefronts") {
        EXPECT_EQ(own.at(name), counted) << name;
      } else {
        wavefronts = std::max(wavefronts, percent_between(counted, own.at(name)));
      }
    }
    // Nsight Compute prints two decimals, so small values cannot be compared.
    for (const char* name : {"sm_busy", "warps_active", "tensor_busy"}) {
      const double theirs = ncu.at(name), difference = percent_between(own.at(name), theirs);
      if (theirs < 1) continue;
      double& largest = one.at("kernel") == "mma" ? shortest : longer;
      largest = std::max(largest, difference);
    }
  }
  const std::string docs = text_of("docs/measuring.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} of {} totals of instructions", equal, totals)));
  EXPECT_EQ(totals - equal, 1);
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("the other has {}\nfewer of {}.", fewer, with_commas(int64_t(of)))));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("differ by up to\n{:.1f} %", longer)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("microseconds by {:.1f} %", shortest)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("wavefronts are up to {:.1f} % fewer", wavefronts)));
}

// Why one launch that is not counted comes after each of CUPTI's starts.
TEST(CuptiRecording, TheFirstLaunchAfterAStartIsLonger) {
  const auto recorded = nlohmann::json::parse(text_of("bench/results/cupti_h200.json")).at("first_launch");
  const auto mean = [&](const char* name) {
    double sum = 0;
    for (const double clocks : recorded.at(name)) sum += clocks;
    return sum / double(recorded.at(name).size());
  };
  const double first = mean("after_start"), next = mean("after_one_more"), theirs = mean("ncu");
  const std::string docs = text_of("docs/measuring.md");
  EXPECT_THAT(docs,
              testing::HasSubstr(fmt::format("takes {:.0f} % more\nclocks than the next ({} against {}, and {} in",
                                             percent_between(first, next), with_commas(std::lround(first)),
                                             with_commas(std::lround(next)), with_commas(std::lround(theirs)))));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{:.1f} % are left", percent_between(next, theirs))));
}

// Shares of a reading's samples, in %, by line.
std::map<std::string, double> shares_of(const nlohmann::json& run) {
  std::map<std::string, double> shares;
  for (const auto& line : run.at("lines"))
    shares[line.at("at")] = 100 * line.at("samples").get<double>() / run.at("samples").get<double>();
  return shares;
}

TEST(CuptiRecording, TheSamplesAreAsTheDocsSay) {
  const auto runs = nlohmann::json::parse(text_of("bench/results/samples_h200.json")).at("runs");
  int64_t least = INT64_MAX, most = 0, fewest = INT64_MAX, launches = 0;
  double apart = 0;                          // points, of two readings of one config
  std::map<std::string, double> from_model;  // points, by problem
  for (const auto& run : runs) {
    least = std::min(least, run.at("samples").get<int64_t>());
    most = std::max(most, run.at("samples").get<int64_t>());
    fewest = std::min(fewest, run.at("launches").get<int64_t>());
    launches = std::max(launches, run.at("launches").get<int64_t>());
    EXPECT_EQ(run.at("dropped"), 0);
    EXPECT_EQ(run.at("of_other_code"), 0);
    const auto shares = shares_of(run);
    for (const auto& line : run.at("lines")) {
      const double modelled = line.at("modelled_share");
      double& off = from_model[run.at("problem")];
      off = std::max(off, std::abs(shares.at(line.at("at")) - modelled));
      EXPECT_LE(modelled, run.at("lines").front().at("modelled_share")) << "the line with most samples is the model's";
    }
    for (const auto& other : runs)
      if (other.at("kernel") == run.at("kernel") && other.at("problem") == run.at("problem"))
        for (const auto& [line, share] : shares_of(other))
          if (shares.contains(line)) apart = std::max(apart, std::abs(share - shares.at(line)));
  }
  const std::string docs = text_of("docs/measuring.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format(
                        "each of {} readings took {} to {}\nsamples in {} to {} launches, and none was dropped",
                        runs.size(), with_commas(least), with_commas(most), fewest, launches)));
  EXPECT_GT(apart, 0);
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("differs by more than {:.1f} points", apart)));
  EXPECT_THAT(
      docs, testing::HasSubstr(fmt::format("by up to {:.1f} points at B1 H8 S512", from_model["B=1,H=8,S=512,D=64"])));
  EXPECT_THAT(docs,
              testing::HasSubstr(fmt::format("by up to {:.1f} at B4 H16 S4096", from_model["B=4,H=16,S=4096,D=64"])));
  const auto& barrier = runs.front().at("lines").front();
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format(
                        "{:.1f} % wait at\nthe barrier behind its scores, to which the model gives {:.1f} %",
                        shares_of(runs.front()).at(barrier.at("at")), barrier.at("modelled_share").get<double>())));
}

}  // namespace
}  // namespace attnscope::cuda_api
