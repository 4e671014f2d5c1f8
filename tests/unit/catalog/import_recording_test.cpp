// docs/importing.md says about published kernels what bench/results/import_kernels.txt holds.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "platform/atomic_file.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;

std::string text_of(const char* file) {
  const auto text = platform::read_file(source_dir() / file, size_t{1} << 20);
  EXPECT_TRUE(text) << file;
  return text.value_or("");
}

int lines_with(const std::string& text, const std::string& begin) {
  int found = 0;
  std::string line;
  for (std::istringstream lines(text); std::getline(lines, line);) found += line.starts_with(begin);
  return found;
}

struct Repository {
  std::string name, commit;
  std::array<int, 5> counts{};  // kernels, imported, ran, nothing guessed, with --include
};

std::vector<Repository> repositories() {
  std::vector<Repository> found;
  std::istringstream lines(text_of("bench/results/import_kernels.txt"));
  bool within = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) within = false;
    if (within) {
      Repository& one = found.emplace_back();
      std::istringstream words(line);
      words >> one.name >> one.commit;
      for (int& count : one.counts) words >> count;
      EXPECT_TRUE(words) << line;
    }
    if (line.starts_with("repository ")) within = true;
  }
  return found;
}

TEST(ImportRecording, TheDocsTableIsTheRecordings) {
  const std::string docs = text_of("docs/importing.md");
  const std::vector<Repository> all = repositories();
  ASSERT_GT(all.size(), 20u);
  std::array<int, 5> sums{};
  for (const auto& [name, commit, counts] : all) {
    EXPECT_THAT(docs, HasSubstr(fmt::format("| {} | {} | {} |\n", name, commit, fmt::join(counts, " | "))));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
    EXPECT_LE(counts[1], counts[0]) << name;
    EXPECT_LE(counts[2], counts[1]) << name;
    EXPECT_LE(counts[3], counts[2]) << name;
    EXPECT_LE(counts[2], counts[4]) << name;
  }
  EXPECT_THAT(docs, HasSubstr(fmt::format("| all {} | | {} |\n", all.size(), fmt::join(sums, " | "))));
  EXPECT_THAT(docs, HasSubstr(fmt::format("Of {} kernels of {} repositories, {} ran at the first try", sums[0],
                                          all.size(), sums[2])));
  EXPECT_THAT(docs, HasSubstr(fmt::format("of {} of them nothing\nwas guessed", sums[3])));
  EXPECT_THAT(text_of("bench/results/import_kernels.txt"),
              HasSubstr(fmt::format("{} kernels of {} repositories: {} imported, {} ran", sums[0], all.size(), sums[1],
                                    sums[2])));
}

// The second draw, of other repositories.
TEST(ImportRecording, TheFreshDrawIsTheRecordings) {
  const std::string recorded = text_of("bench/results/import_fresh.txt");
  int kernels = 0, repositories = 0, imported = 0, ran = 0;
  std::string line;
  for (std::istringstream lines(recorded); std::getline(lines, line);)
    if (std::sscanf(line.c_str(), "%d kernels of %d repositories: %d imported, %d ran", &kernels, &repositories,
                    &imported, &ran) == 4)
      break;
  ASSERT_GT(kernels, 100);
  EXPECT_THAT(text_of("docs/importing.md"),
              HasSubstr(fmt::format("Of {} kernels of {} other repositories, drawn by the same rule, {} ran ({:.0f} %)",
                                    kernels, repositories, ran, 100.0 * ran / kernels)));
}

TEST(ImportRecording, TheThirdDrawIsTheRecordings) {
  const std::string recorded = text_of("bench/results/import_never_tried.txt");
  int kernels = 0, repositories = 0, imported = 0, ran = 0, first = 0;
  std::string line;
  for (std::istringstream lines(recorded); std::getline(lines, line);) {
    std::sscanf(line.c_str(), "%d kernels of %d repositories: %d imported, %d ran", &kernels, &repositories, &imported,
                &ran);
    std::sscanf(line.c_str(), "imported, %d ran (", &first);
  }
  ASSERT_GT(kernels, 150);
  EXPECT_EQ(kernels - ran, lines_with(recorded, "  refused ") + lines_with(recorded, "  stopped "));
  EXPECT_THAT(
      text_of("docs/importing.md"),
      HasSubstr(fmt::format("Of {} kernels of {} further repositories that nobody had tried, {} ran at first "
                            "sight ({:.0f} %), and {} after more was mended ({:.0f} %",
                            kernels, repositories, first, 100.0 * first / kernels, ran, 100.0 * ran / kernels)));
}

TEST(ImportRecording, TheChecksByHandAreTheRecordings) {
  const std::string facts = text_of("bench/results/import_facts.txt"), docs = text_of("docs/importing.md");
  const size_t second = facts.find("The second check"), third = facts.find("The third check");
  ASSERT_TRUE(second < third && third < facts.size());
  EXPECT_EQ(lines_with(facts.substr(second, third - second), "right "), 60);
  const size_t fourth = facts.find("The fourth check");
  ASSERT_TRUE(third < fourth && fourth < facts.size());
  EXPECT_EQ(lines_with(facts.substr(third, fourth - third), "right "), 59);
  EXPECT_EQ(lines_with(facts.substr(third, fourth - third), "wrong "), 1);
  const size_t fifth = facts.find("The fifth check");
  ASSERT_TRUE(fourth < fifth && fifth < facts.size());
  EXPECT_EQ(lines_with(facts.substr(fourth, fifth - fourth), "right "), 59);
  const size_t sixth = facts.find("The sixth check");
  ASSERT_TRUE(fifth < sixth && sixth < facts.size());
  EXPECT_EQ(lines_with(facts.substr(fifth, sixth - fifth), "right "), 59);
  const size_t seventh = facts.find("The seventh check"), eighth = facts.find("The eighth check");
  ASSERT_TRUE(sixth < seventh && seventh < eighth && eighth < facts.size());
  EXPECT_EQ(lines_with(facts.substr(sixth, seventh - sixth), "right "), 60);
  const size_t ninth = facts.find("The ninth check"), tenth = facts.find("The tenth check");
  ASSERT_TRUE(eighth < ninth && ninth < tenth && tenth < facts.size());
  for (const std::string& each : {facts.substr(seventh, eighth - seventh), facts.substr(eighth, ninth - eighth)}) {
    EXPECT_EQ(lines_with(each, "right "), 58);
    EXPECT_EQ(lines_with(each, "wrong "), 2);
  }
  EXPECT_EQ(lines_with(facts.substr(ninth, tenth - ninth), "right "), 59);
  EXPECT_EQ(lines_with(facts.substr(ninth, tenth - ninth), "wrong "), 1);
  EXPECT_EQ(lines_with(facts.substr(tenth), "right "), 60);
  EXPECT_THAT(facts, HasSubstr("all 1,808 facts of 300 of these kernels"));
  EXPECT_THAT(docs, HasSubstr("Then all 1,808 facts of 300 kernels"));
  EXPECT_THAT(docs, HasSubstr("each judged by itself, 59 were\nright"));
  EXPECT_THAT(docs, HasSubstr("Of a tenth 60, judged beside the other facts of their kernels, 60 were right"));
  EXPECT_THAT(docs,
              HasSubstr("each 60 of the kernels that nobody had tried, 58 were right; the four wrong ones are fixed"));
  EXPECT_EQ(lines_with(facts, "wrong "), 9);
  EXPECT_THAT(docs, HasSubstr("Of a sixth 60, drawn after that, 60 were right"));
  EXPECT_THAT(facts, HasSubstr("of 2,561 facts, 75 in 39 kernels are guesses or have another value now. In 17"));
  EXPECT_THAT(docs, HasSubstr("Of another 60, drawn after more kinds of reading were added, 59 were right"));
  EXPECT_THAT(
      docs,
      HasSubstr("Of a fourth 60, of kernels of which no fact was judged before, 59 were right, and of a fifth 59;"));
  EXPECT_THAT(docs, HasSubstr("75 of 2,561 facts are guesses or have another value since; in 17 kernels"));
  EXPECT_THAT(
      docs,
      HasSubstr("Of 60 others, drawn later and half of them of kernels that another file launches, 60 were right"));
  const std::string right = text_of("bench/results/import_right.txt");
  EXPECT_EQ(lines_with(right, "right ") + lines_with(right, "wrong "), 80);
  EXPECT_THAT(docs, HasSubstr(fmt::format("of {} of 80, every buffer's role and extent", lines_with(right, "right "))));
  EXPECT_THAT(right, HasSubstr(fmt::format("{} of 80 kernels are right", lines_with(right, "right "))));
}

TEST(ImportRecording, TheRefusalsAreTheRecordings) {
  const std::string read = text_of("bench/results/import_refusals.txt");
  const int good = lines_with(read, "good "), mended = lines_with(read, "mended "), runs = lines_with(read, "runs ");
  const std::string kernels = text_of("bench/results/import_kernels.txt");
  EXPECT_EQ(good + mended, lines_with(kernels, "  refused ") + lines_with(kernels, "  stopped "));
  EXPECT_THAT(read, HasSubstr(fmt::format("35 refusals: {} good, {} mended, {} run since", good, mended, runs)));
  EXPECT_EQ(lines_with(read, "  way on: "), good + mended);
  EXPECT_THAT(text_of("docs/importing.md"),
              HasSubstr(fmt::format("{} named the reason and the way on, {} do now", good, mended)));
}

TEST(ImportRecording, TheFirstRunIsTheRecordings) {
  std::vector<std::string> cold, again;
  std::string line;
  for (std::istringstream lines(text_of("bench/results/import_first_run.txt")); std::getline(lines, line);) {
    char first[8] = {}, then[8] = {};
    if (std::sscanf(line.c_str(), "cold %7[0-9.] s, again %7[0-9.] s", first, then) != 2) continue;
    cold.emplace_back(first);
    again.emplace_back(then);
  }
  ASSERT_EQ(cold.size(), 3u);
  const auto span = [](const std::vector<std::string>& all) {
    return fmt::format("{} to {} s", std::ranges::min(all), std::ranges::max(all));
  };
  EXPECT_THAT(text_of("docs/importing.md"),
              HasSubstr(fmt::format("takes {} cold and {} again", span(cold), span(again))));
}

}  // namespace
}  // namespace attnscope::catalog
