// What docs/explaining.md says of proposals is what bench/results/next_l4.json holds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace attnscope::explain {
namespace {

std::string text_of(const char* file) {
  std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Counts {
  int warnings = 0, proposed = 0, gained = 0, slower = 0;
};

Counts counts_of(const nlohmann::json& configs, const char* when) {
  Counts counts;
  for (const auto& config : configs)
    for (const auto& finding : config.at(when)) {
      ++counts.warnings;
      if (!finding.contains("next")) continue;
      ++counts.proposed;
      const double times = finding.at("modelled");  // A's time over the proposed one's
      counts.gained += times > 1.02;
      counts.slower += times < 1 / 1.02;
    }
  return counts;
}

TEST(NextRecording, TheDocsSayWhatItHolds) {
  const auto recorded = nlohmann::json::parse(text_of("bench/results/next_l4.json"));
  const auto& configs = recorded.at("configs");
  const std::string docs = text_of("docs/explaining.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("Of {} random legal configs", configs.size())));
  for (const char* when : {"before", "after"}) {
    const Counts counts = counts_of(configs, when);
    EXPECT_THAT(docs, testing::HasSubstr(fmt::format("| {} | {} | {} | {} | {} |", when, counts.warnings,
                                                     counts.proposed, counts.gained, counts.slower)));
  }
}

}  // namespace
}  // namespace attnscope::explain
