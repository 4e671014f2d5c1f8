// docs/explaining.md says about proposals what bench/results/next_*.json hold.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
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

// The measured times of proposals, compared with their estimates.
struct Gains {
  int all = 0, gained = 0, near = 0, near_then = 0, near_tried = 0;
  double least = 1e9;
  double estimated = 0, tried = 0, achieved = 0;  // sums of logarithms

  void add(const nlohmann::json& pair) {
    const double times = pair.at("ratio"), estimate = pair.at("estimated");
    ++all;
    gained += times > 1 && !pair.at("tie").get<bool>();
    near += is_near(times, estimate);
    near_then += is_near(times, pair.value("estimated_then", estimate));
    near_tried += is_near(times, pair.value("tried", 0.0));
    tried += std::log(pair.value("tried", 1.0));
    least = std::min(least, times);
    estimated += std::log(estimate);
    achieved += std::log(times);
  }
  static bool is_near(double times, double estimate) { return times <= 1.5 * estimate && estimate <= 1.5 * times; }
  double mean(double logarithms) const { return std::exp(logarithms / all); }
};

TEST(NextRecording, AndWhatAGpuTimed) {
  const auto pairs = nlohmann::json::parse(text_of("bench/results/next_h200.json")).at("pairs");
  Gains all, others;
  for (const auto& pair : pairs) {
    all.add(pair);
    if (pair.at("rule") != "wait.barrier") others.add(pair);
  }
  const std::string docs = text_of("docs/explaining.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("On an H200, {} proposals", all.all)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("): {} gained.", all.gained)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("Of the other {}, {} gained within", others.all, others.near)));
}

TEST(NextRecording, AndOthersWithoutTheRuleThatLost) {
  const auto pairs = nlohmann::json::parse(text_of("bench/results/next_h200_seed23.json")).at("pairs");
  Gains all;
  std::map<std::string, Gains> rules;
  for (const auto& pair : pairs) {
    EXPECT_EQ(pair.at("severity"), "warning");
    EXPECT_NE(pair.at("rule"), "wait.barrier");
    all.add(pair);
    rules[pair.at("rule")].add(pair);
  }
  const std::string docs = text_of("docs/explaining.md");
  EXPECT_EQ(all.gained, all.all);
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("Then {} others were timed", all.all)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("all gained, by {:.0f} % at least", 100 * (all.least - 1))));
  EXPECT_THAT(docs,
              testing::HasSubstr(fmt::format("mean {:.2f} times was estimated and {:.2f} times achieved; {} gained",
                                             all.mean(all.estimated), all.mean(all.achieved), all.near)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("With the estimate of then, {} did, and {} of `grid.small`'s",
                                                   all.near_then, rules["grid.small"].near_then)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} of the {} proposals gained on the H200 within a factor of 1.5",
                                                   all.near_tried, all.all)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("said, {:.2f} times in the geometric mean", all.mean(all.tried))));
  for (const auto& [rule, gains] : rules)
    EXPECT_THAT(docs,
                testing::HasSubstr(fmt::format("| `{}` | {} | {} | {:.2f} | {:.2f} |", rule, gains.all, gains.near,
                                               gains.mean(gains.estimated), gains.mean(gains.achieved))));
}

// A draw that shares no config with the others, made after every rule was as it is.
TEST(NextRecording, AndADrawThatNoRuleWasMadeOf) {
  const auto pairs = nlohmann::json::parse(text_of("bench/results/next_h200_seed41.json")).at("pairs");
  std::set<std::string> known;
  const auto config = [](const nlohmann::json& pair) {
    return pair.at("kernel").dump() + pair.at("knobs").dump() + pair.at("problem").dump();
  };
  for (const char* file : {"bench/results/next_h200.json", "bench/results/next_h200_seed23.json"}) {
    const auto earlier = nlohmann::json::parse(text_of(file));
    for (const auto& pair : earlier.at("pairs")) known.insert(config(pair));
  }
  Gains all, small;
  for (const auto& pair : pairs) {
    EXPECT_EQ(pair.at("severity"), "warning");
    EXPECT_FALSE(known.contains(config(pair))) << pair.dump();
    all.add(pair);
    if (pair.at("rule") == "grid.small") small.add(pair);
  }
  EXPECT_EQ(all.gained, all.all);
  const std::string docs = text_of("docs/explaining.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} proposals of configs of which none was known", all.all)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("all gained; {:.2f} times was estimated and {:.2f} times achieved",
                                                   all.mean(all.estimated), all.mean(all.achieved))));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} gained within a factor of 1.5, {} of {} of `grid.small`'s and "
                                                   "all {} others",
                                                   all.near, small.near, small.all, all.all - small.all)));
  EXPECT_EQ(all.near - small.near, all.all - small.all);
  EXPECT_THAT(docs,
              testing::HasSubstr(fmt::format("Tried in the emulator, {} of the {} are", all.near_tried, all.all)));
}

// A third draw, timed with the rules as they were before it.
TEST(NextRecording, AndAThirdDraw) {
  const auto pairs = nlohmann::json::parse(text_of("bench/results/next_h200_seed59.json")).at("pairs");
  Gains all, small;
  for (const auto& pair : pairs) {
    EXPECT_EQ(pair.at("severity"), "warning");
    all.add(pair);
    if (pair.at("rule") == "grid.small") small.add(pair);
  }
  EXPECT_EQ(all.gained, all.all);
  EXPECT_THAT(text_of("docs/explaining.md"),
              testing::HasSubstr(fmt::format("{} proposals of a third draw (`bench/results/next_h200_seed59.json`): "
                                             "all gained; {:.2f} times was estimated "
                                             "and {:.2f} times achieved.\n{} gained within a factor of 1.5, {} of {} "
                                             "of `grid.small`'s and {} of {} others",
                                             all.all, all.mean(all.estimated), all.mean(all.achieved), all.near,
                                             small.near, small.all, all.near - small.near, all.all - small.all)));
}

// The least and the greatest value of a table's first column.
std::pair<double, double> walls(const std::string& text, const std::string& heading) {
  std::istringstream in(text.substr(text.find(heading)));
  std::pair<double, double> range{1e9, 0};
  std::string line;
  while (std::getline(in, line) && !line.empty()) {
    double wall = 0, user = 0, system = 0;
    if (std::sscanf(line.c_str(), " %lf %lf %lf", &wall, &user, &system) != 3) continue;
    range = {std::min(range.first, wall), std::max(range.second, wall)};
  }
  return range;
}

TEST(ScanRecording, TheDocsSayWhatItTook) {
  const std::string text = text_of("bench/results/scan_cost.txt"), docs = text_of("docs/explaining.md");
  const auto scan = walls(text, "attnscope scan"), explain = walls(text, "attnscope explain");
  const auto eleven = walls(text.substr(text.find("SO_TYPE")), "SO_TYPE"), watched = walls(text, "tiled --watch");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("took {:.2f} to {:.2f} s on two cores", scan.first, scan.second)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("Eleven values, of which eight ran, took {:.2f} to {:.2f} s",
                                                   eleven.first, eleven.second)));
  EXPECT_THAT(docs,
              testing::HasSubstr(fmt::format("`explain --watch` {:.2f} to {:.2f} s", watched.first, watched.second)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("`explain` {:.2f} to\n  {:.2f} s", explain.first, explain.second)));
}

}  // namespace
}  // namespace attnscope::explain
