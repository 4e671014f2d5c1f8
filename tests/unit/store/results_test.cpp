#include "store/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_dir.h"
#include "unit/store/sample_observation.h"

namespace attnscope::store {
namespace {

using testing::HasSubstr;
using testing_support::TempDir;

Observation observation(int64_t warps, double us = 839.38) { return sample_observation(warps, us); }

int64_t count(Results& results) {
  auto counted = results.count();
  EXPECT_TRUE(counted) << counted.error().message;
  return counted.value_or(-1);
}

// The time in the newest row of that experiment; 0 if there is none.
double newest_us(Results& results, const Observation& of) {
  auto newest = results.newest(of.hash);
  EXPECT_TRUE(newest) << newest.error().message;
  return newest && *newest ? (*newest)->observation.timing->p50 : 0;
}

std::unique_ptr<Results> open(const std::filesystem::path& path) {
  auto results = Results::open(path);
  EXPECT_TRUE(results) << results.error().message;
  if (!results) return nullptr;
  const auto trouble = (*results)->take_trouble();
  EXPECT_FALSE(trouble) << trouble->message;
  return std::move(*results);
}

void append(Results& results, const Observation& o, double at) {
  auto done = results.append(o, at);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(results.take_trouble());
}

TEST(Results, KeepsEveryObservationAndFindsTheNewest) {
  TempDir dir;
  {
    auto results = open(dir / "deep/results.sqlite");
    append(*results, observation(4, 1029), 1);
    append(*results, observation(4, 1030), 2);
    append(*results, observation(8), 3);
  }
  auto results = open(dir / "deep/results.sqlite");
  EXPECT_EQ(count(*results), 3);
  auto newest = results->newest(observation(4).hash);
  ASSERT_TRUE(newest && *newest);
  EXPECT_EQ((*newest)->observation, observation(4, 1030));
  EXPECT_EQ((*newest)->finished_at, 2);
  auto none = results->newest("no such hash");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(Results, FindsWhatIsCorrectOfAProblemTheNewestFirst) {
  TempDir dir;
  auto results = open(dir / "r.sqlite");
  const auto judged = [](int64_t warps, const char* state) {
    Observation o = observation(warps);
    o.verdict.emplace().state = *parse_word<VerdictState>(state);
    return o;
  };
  append(*results, judged(4, "correct"), 1);
  append(*results, judged(8, "correct"), 2);
  append(*results, judged(6, "wrong"), 3);
  append(*results, observation(2), 4);  // without a verdict
  Observation other = judged(4, "correct");
  other.experiment.problem.causal = Causal::bottom_right;
  append(*results, other, 5);
  Observation refused = judged(1, "correct");
  refused.timing.reset();
  append(*results, refused, 6);
  auto found = results->correct(Problem{});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].observation, judged(8, "correct"));
  EXPECT_EQ((*found)[1].finished_at, 1);
  EXPECT_EQ(results->correct(other.experiment.problem)->size(), 1u);
}

TEST(Results, WhatWasAddedLastIsNewestWhateverTheClockSaid) {
  TempDir dir;
  auto results = open(dir / "r.sqlite");
  constexpr double kYear = 365.25 * 86400;
  const std::vector<double> clock{2e9, 2e9 - kYear, 2e9 + kYear, 2e9};
  for (size_t i = 0; i < clock.size(); ++i) {
    Observation o = observation(4, static_cast<double>(i + 1));
    o.verdict.emplace().state = VerdictState::correct;
    append(*results, o, clock[i]);
    EXPECT_EQ(newest_us(*results, o), static_cast<double>(i + 1));
    EXPECT_EQ(results->correct(Problem{})->front().observation, o);
  }
}

TEST(Results, TwoProgramsShareOneFile) {
  TempDir dir;
  auto a = open(dir / "r.sqlite"), b = open(dir / "r.sqlite");
  for (int i = 0; i < 50; ++i) {
    append(*a, observation(4), i);
    append(*b, observation(8), i);
  }
  EXPECT_EQ(count(*a), 100);
}

TEST(Results, TheLatestAreThoseAddedLastWhateverTheClockSaid) {
  TempDir dir;
  auto results = open(dir / "r.sqlite");
  for (int i = 0; i < 5; ++i) append(*results, observation(i), 100 - i);
  auto latest = results->latest(3);
  ASSERT_TRUE(latest) << latest.error().message;
  ASSERT_EQ(latest->rows.size(), 3u);
  for (size_t at = 0; at < 3; ++at) EXPECT_EQ(latest->rows[at].observation, observation(static_cast<int>(at) + 2));
  EXPECT_EQ(latest->unreadable, 0);
}

TEST(Results, RandomBytesAreMovedAsideNotDeleted) {
  TempDir dir;
  const std::string bytes(8192, 'x');
  const auto path = dir.write("r.sqlite", bytes);
  auto opened = Results::open(path);
  ASSERT_TRUE(opened) << opened.error().message;
  Results& results = **opened;
  const auto trouble = results.take_trouble();
  ASSERT_TRUE(trouble);
  EXPECT_THAT(trouble->message, HasSubstr("r.sqlite"));
  EXPECT_THAT(trouble->hint, HasSubstr("r.sqlite.damaged-1"));
  EXPECT_EQ(testing_support::read_text(dir / "r.sqlite.damaged-1"), bytes);
  EXPECT_FALSE(results.take_trouble()) << "it was taken";
  append(results, observation(4), 1);
  EXPECT_EQ(count(results), 1);
}

TEST(Results, DamageThatShowsWhileWritingLosesNoNewRow) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  {
    auto results = open(path);
    for (int i = 0; i < 200; ++i) append(*results, observation(i), i);
  }
  {  // the pages after the schema's: opening still works
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    const std::string noise(std::filesystem::file_size(path) - 4096, '\x5a');
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }
  auto opened = Results::open(path);
  ASSERT_TRUE(opened) << opened.error().message;
  auto done = (*opened)->append(observation(7), 1);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE((*opened)->take_trouble());
  EXPECT_TRUE(std::filesystem::exists(dir / "r.sqlite.damaged-1"));
  EXPECT_EQ(count(**opened), 1);
}

TEST(Results, ANewerSchemaIsLeftAlone) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  { auto results = open(path); }
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  auto results = Results::open(path);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message, HasSubstr("newer version"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

// In a child, because a limit on file sizes holds for the whole process: the kernel then refuses to let a file grow, as
// on a full disk.
TEST(Results, AFullDiskIsAWarningAndOldRowsStay) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  {
    auto results = open(path);
    append(*results, observation(4), 1);
  }
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t limit = std::filesystem::file_size(path) + 65536;  // leaves room for the shared index (32 KB)
    const rlimit sizes{limit, limit};
    setrlimit(RLIMIT_FSIZE, &sizes);
    auto results = Results::open(path);
    if (!results) _exit(2);
    Observation large = observation(8);
    large.variant.emplace();
    large.variant->log = std::string(400000, 'x');
    auto done = (*results)->append(large, 2);
    if (done || done.error().stage != Stage::store || done.error().message.find("r.sqlite") == std::string::npos)
      _exit(3);
    if ((*results)->take_trouble()) _exit(4);
    if (!(*results)->append(observation(16), 3)) _exit(5);  // a small one still fits
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto results = open(path);
  EXPECT_EQ(count(*results), 2);
}

}  // namespace
}  // namespace attnscope::store
