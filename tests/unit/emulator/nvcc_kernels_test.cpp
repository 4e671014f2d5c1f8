// Published kernels as nvcc compiles them, counted by the emulator and by Nsight Compute (tests/gpu/nvcc_kernels), and
// what docs/emulator.md says of both; and of the planted faults that compute-sanitizer looked at.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace attnscope::emulator {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string text_of(const std::string& file) {
  std::ifstream in(ATTNSCOPE_SOURCE_DIR "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int64_t of(const Json& counts, const char* name) { return counts.at(name).get<int64_t>(); }

bool equal_but_for_shared(const Json& kernel) {
  const Json &ours = kernel.at("emulator"), &theirs = kernel.at("ncu");
  for (const char* name : {"warp_instructions", "threads", "global_load_sectors", "global_store_sectors"})
    if (of(ours, name) != of(theirs, name)) return false;
  return of(ours, "local_sectors") == of(theirs, "local_load_sectors") + of(theirs, "local_store_sectors");
}

TEST(NvccKernels, TheDocsSayHowManyAgree) {
  const Json recorded = Json::parse(text_of("tests/data/gpu/h200_nvcc_kernels.json"));
  const Json& kernels = recorded.at("kernels");
  size_t equal = 0, same_shared = 0, near_shared = 0;
  std::set<std::string> repositories;
  for (const Json& one : kernels) {
    const int64_t ours = of(one.at("emulator"), "shared_wavefronts"), theirs = of(one.at("ncu"), "shared_wavefronts");
    equal += equal_but_for_shared(one);
    same_shared += ours == theirs;
    near_shared += std::abs(double(ours - theirs)) <= 0.005 * double(theirs);
    repositories.insert(one.at("repository").get<std::string>());
  }
  EXPECT_GE(equal, 25u);
  EXPECT_THAT(text_of("docs/emulator.md"),
              HasSubstr(fmt::format("Of {} kernels of {} repositories", kernels.size(), repositories.size())));
  EXPECT_THAT(text_of("docs/emulator.md"),
              HasSubstr(fmt::format(
                  "{} have Nsight Compute's warp instructions, threads and sectors to the last digit, and {} its "
                  "shared wavefronts, {} within 0.5 %",
                  equal, same_shared, near_shared)));
}

TEST(PlantedFaults, TheDocsSayWhatComputeSanitizerNames) {
  const std::string recorded = text_of("bench/results/planted_faults_sanitizer.txt");
  int faults = 0, ours = 0, theirs = 0, heard = 0;
  const size_t at = recorded.find("\n\n");
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(std::sscanf(recorded.c_str() + at,
                        " %d faults: attnscope names %d with their lines, compute-sanitizer %d, and reports of %d",
                        &faults, &ours, &theirs, &heard),
            4);
  EXPECT_GE(faults, 40);
  EXPECT_THAT(
      text_of("docs/emulator.md"),
      HasSubstr(fmt::format("of {} planted faults `attnscope check` names {} with their lines, compute-sanitizer {}",
                            faults, ours, theirs)));
}

TEST(PlantedFaults, TheDocsSayWhatIsNamed) {
  const std::string recorded = text_of("bench/results/planted_faults.txt");
  const size_t at = recorded.find("42 kernels, ");
  ASSERT_NE(at, std::string::npos);
  int kernels = 0, faults = 0, named = 0, warned = 0, arithmetic = 0, open = 0;
  ASSERT_EQ(std::sscanf(recorded.c_str() + at,
                        "%d kernels, %d planted faults: %d named with their lines, %d of these as a warning, %d of "
                        "arithmetic only, %d not named",
                        &kernels, &faults, &named, &warned, &arithmetic, &open),
            6);
  EXPECT_EQ(named + arithmetic + open, faults);
  EXPECT_THAT(text_of("docs/emulator.md"),
              HasSubstr(fmt::format("Of {} faults {} are named with their lines and {} are of arithmetic", faults,
                                    named, arithmetic)));
  EXPECT_THAT(text_of("docs/emulator.md"),
              HasSubstr(open == 0 ? "the recording has every case."
                                  : fmt::format("the recording has every case, and why {} are not reported", open)));
}

}  // namespace
}  // namespace attnscope::emulator
