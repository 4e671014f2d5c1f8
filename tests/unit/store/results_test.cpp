#include "store/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/escape.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "store/results_database.h"
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

std::vector<double> times_of(Results& results, const ResultFilter& wanted, ResultOrder order) {
  std::vector<double> times;
  auto rows = results.find(wanted, order);
  EXPECT_TRUE(rows) << rows.error().message;
  if (!rows) return times;
  auto unreadable = results.read(*rows, [&](const StoredObservation& o) {
    times.push_back(o.observation.timing ? o.observation.timing->p50 : 0);
  });
  EXPECT_EQ(unreadable, 0);
  return times;
}

const ResultFilter kAll = [](const ResultKey&) { return true; };

TEST(Results, FindsRowsByTheirKeysInBothOrders) {
  TempDir dir;
  auto results = open(dir / "r.sqlite");
  Observation gpu = observation(4, 30);
  gpu.device = "cuda:0";
  gpu.versions.gpu = "NVIDIA H200";
  gpu.verdict.emplace().state = VerdictState::wrong;
  gpu.timing->kind = FigureKind::measured;
  gpu.timing->cache = CacheState::cold;
  Observation untimed = observation(1);
  untimed.timing.reset();
  append(*results, observation(2, 20), 7);
  append(*results, untimed, 8);
  append(*results, gpu, 9);
  append(*results, observation(8, 10), 10);
  EXPECT_EQ(times_of(*results, kAll, ResultOrder::newest), (std::vector<double>{10, 30, 0, 20}));
  EXPECT_EQ(times_of(*results, kAll, ResultOrder::fastest), (std::vector<double>{10, 20, 30, 0}));
  int seen = 0;
  const auto is_gpus = [&](const ResultKey& key) {
    if (key.gpu() != "NVIDIA H200") return false;
    ++seen;
    EXPECT_EQ(key.finished_at(), 9);
    EXPECT_EQ(key.kernel(), "tiled");
    EXPECT_EQ(key.device(), "cuda:0");
    EXPECT_EQ(key.kind(), "measured");
    EXPECT_EQ(key.cache(), "cold");
    EXPECT_EQ(key.verdict(), "wrong");
    EXPECT_EQ(key.us(), 30);
    EXPECT_THAT(std::string(key.config()), HasSubstr("\"NUM_WARPS\":4"));
    EXPECT_THAT(std::string(key.problem()), HasSubstr("\"seq_q\":512"));
    return true;
  };
  EXPECT_EQ(times_of(*results, is_gpus, ResultOrder::newest), std::vector<double>{30});
  EXPECT_EQ(seen, 1);
  Observation agrees = observation(2, 50);
  agrees.verdict.emplace().state = VerdictState::correct;
  agrees.verdict->against = "naive";
  append(*results, agrees, 11);
  const auto agreeing = [](const ResultKey& key) { return key.outcome() == "agrees" && key.against() == "naive"; };
  EXPECT_EQ(times_of(*results, agreeing, ResultOrder::newest), std::vector<double>{50});
  const auto correct = [](const ResultKey& key) { return key.outcome() == "correct"; };
  EXPECT_EQ(times_of(*results, correct, ResultOrder::newest), std::vector<double>{});
  const auto is_untimed = [](const ResultKey& key) {
    return key.us() == 0 && key.kind().empty() && key.verdict().empty();
  };
  EXPECT_EQ(times_of(*results, is_untimed, ResultOrder::newest), std::vector<double>{0});
}

// A file that 0.1.0 made, and to which it adds rows afterwards.
TEST(Results, AnOlderVersionsRowsAreFoundToo) {
  TempDir dir;
  const auto insert = [&](const Observation& o) {
    SQLite::Database old((dir / "r.sqlite").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    old.exec(
        "CREATE TABLE IF NOT EXISTS observation("
        "id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL, json TEXT NOT "
        "NULL)");
    old.exec("CREATE INDEX IF NOT EXISTS observation_of_hash ON observation(hash)");
    old.exec("PRAGMA user_version=1");
    SQLite::Statement add(old, "INSERT INTO observation(hash, finished_at, app, json) VALUES (?, 1, '0.1.0', ?)");
    add.bind(1, o.hash);
    add.bind(2, o.hash.empty() ? "{ damaged" : json_text(to_json(o)));
    add.exec();
  };
  insert(observation(4, 40));
  {
    const auto no_keys = ResultsDatabase::open_other(dir / "r.sqlite");
    ASSERT_TRUE(no_keys) << no_keys.error().message;
    EXPECT_FALSE((*no_keys)->has_keys);
    SQLite::Statement keys((*no_keys)->connection, (*no_keys)->keys());
    ASSERT_TRUE(keys.executeStep());
    EXPECT_EQ(keys.getColumn(2).getString(), "tiled") << "read from the observations";
  }
  auto results = open(dir / "r.sqlite");
  EXPECT_EQ(times_of(*results, kAll, ResultOrder::newest), std::vector<double>{40});
  insert(observation(8, 80));
  EXPECT_EQ(times_of(*results, kAll, ResultOrder::newest), (std::vector<double>{80, 40}));
  insert(Observation{});  // its text is not JSON
  auto rows = results->find(kAll, ResultOrder::newest);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->size(), 3u);
  EXPECT_EQ(results->read(*rows, [](const StoredObservation&) {}), 1) << "one is unreadable";
}

// The table of keys as 0.2.0 made it, without the reference that an output was compared with.
TEST(Results, AnOlderVersionsKeysAreMadeAnew) {
  TempDir dir;
  Observation agrees = observation(4, 40);
  agrees.verdict.emplace().state = VerdictState::correct;
  agrees.verdict->against = "naive";
  append(*open(dir / "r.sqlite"), agrees, 1);
  {
    SQLite::Database old((dir / "r.sqlite").string(), SQLite::OPEN_READWRITE);
    old.exec("DROP TRIGGER observation_has_key");
    old.exec("ALTER TABLE observation_key DROP COLUMN against");
  }
  EXPECT_FALSE((*ResultsDatabase::open_other(dir / "r.sqlite"))->has_keys);
  auto results = open(dir / "r.sqlite");
  append(*results, observation(8, 80), 2);
  const auto agreeing = [](const ResultKey& key) { return key.outcome() == "agrees"; };
  EXPECT_EQ(times_of(*results, agreeing, ResultOrder::newest), std::vector<double>{40});
  EXPECT_EQ(times_of(*results, kAll, ResultOrder::newest), (std::vector<double>{80, 40})) << "the trigger is there";
}

TEST(Results, MergingAddsWhatIsMissingOnce) {
  TempDir dir;
  auto ours = open(dir / "a.sqlite");
  append(*ours, observation(4, 40), 1);
  append(*ours, observation(2, 20), 2);
  {
    auto theirs = open(dir / "b.sqlite");
    append(*theirs, observation(4, 40), 1);                                           // the same row
    append(*theirs, observation(4, 40), 3);                                           // ran again later
    for (int i = 0; i < 1200; ++i) append(*theirs, observation(i, 100 + i), 10 + i);  // several batches
  }
  const std::string before = testing_support::read_text(dir / "b.sqlite");
  auto merged = ours->merge(dir / "b.sqlite");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->added, 1201);
  EXPECT_EQ(merged->known, 1);
  EXPECT_EQ(merged->unreadable, 0);
  EXPECT_EQ(count(*ours), 1203);
  EXPECT_EQ(testing_support::read_text(dir / "b.sqlite"), before);
  merged = ours->merge(dir / "b.sqlite");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->added, 0) << "merging again adds nothing";
  EXPECT_EQ(times_of(*ours, kAll, ResultOrder::fastest).front(), 20);
}

TEST(Results, MergingTakesTheNotesThatAreMissingOrLater) {
  TempDir dir;
  auto ours = open(dir / "a.sqlite");
  ASSERT_TRUE(ours->annotate("ours", {true, "stays"}, 1));
  ASSERT_TRUE(ours->annotate("both", {true, "older"}, 1));
  ASSERT_TRUE(ours->annotate("later here", {false, "mine"}, 9));
  ASSERT_TRUE(ours->annotate("taken back there", {true, ""}, 1));
  {
    auto theirs = open(dir / "b.sqlite");
    ASSERT_TRUE(theirs->annotate("theirs", {false, "first"}, 2));
    ASSERT_TRUE(theirs->annotate("theirs", {true, "new"}, 3));
    ASSERT_TRUE(theirs->annotate("both", {false, "newer"}, 2));
    ASSERT_TRUE(theirs->annotate("later here", {false, "theirs"}, 8));
    ASSERT_TRUE(theirs->annotate("taken back there", {}, 2));
    ASSERT_TRUE(theirs->annotate("nothing", {}, 2));
  }
  for (const int64_t taken : {3, 0}) {
    const auto merged = ours->merge(dir / "b.sqlite");
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->notes, taken) << "merging again takes nothing";
    EXPECT_EQ(*ours->notes(), (std::map<std::string, RunNote>{{"ours", {true, "stays"}},
                                                              {"both", {false, "newer"}},
                                                              {"later here", {false, "mine"}},
                                                              {"theirs", {true, "new"}}}));
  }
}

TEST(Results, MergingRefusesWhatIsNoResultsFile) {
  TempDir dir;
  auto ours = open(dir / "a.sqlite");
  append(*ours, observation(4), 1);
  dir.write("text", std::string(8192, 'x'));
  {
    SQLite::Database newer((dir / "newer").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    newer.exec("PRAGMA user_version=99");
    SQLite::Database other((dir / "other").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE notes(text TEXT)");
  }
  const std::map<std::string, std::string> wrong{
      {"missing", "no such file"}, {"text", "not a database"}, {"newer", "schema 99"}, {"other", "no observations"}};
  for (const auto& [name, words] : wrong) {
    const auto merged = ours->merge(dir / name);
    ASSERT_FALSE(merged) << name;
    EXPECT_THAT(merged.error().message, HasSubstr((dir / name).string()));
    EXPECT_THAT(merged.error().message, HasSubstr(words));
    EXPECT_FALSE(merged.error().hint.empty());
    EXPECT_FALSE(ours->take_trouble()) << "our file is not at fault";
  }
  EXPECT_EQ(testing_support::read_text(dir / "text"), std::string(8192, 'x')) << "it is left as it is";
  EXPECT_EQ(count(*ours), 1);
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

TEST(Results, OfAnExperimentsNotesTheLastCounts) {
  TempDir dir;
  auto results = open(dir / "r.sqlite");
  ASSERT_TRUE(results->notes());
  EXPECT_TRUE(results->notes()->empty());
  ASSERT_TRUE(results->annotate("a", {true, "first"}, 1));
  ASSERT_TRUE(results->annotate("b", {true, ""}, 2));
  ASSERT_TRUE(results->annotate("a", {false, "second \u00e9"}, 0)) << "whatever the clock says";
  ASSERT_TRUE(results->annotate("b", {}, 3));
  const auto notes = results->notes();
  ASSERT_TRUE(notes);
  EXPECT_EQ(*notes, (std::map<std::string, RunNote>{{"a", {false, "second \u00e9"}}}));
  EXPECT_EQ(results->annotate("a", {true, std::string(RunNote::kMostBytes + 1, 'x')}, 4).error().stage, Stage::input);
  EXPECT_EQ(results->annotate("a", {true, "\xff"}, 4).error().stage, Stage::input);
  EXPECT_EQ(results->notes(), notes);
  EXPECT_EQ(count(*results), 0) << "a note is no result";
}

TEST(Results, ANoteIsThereAfterItsProcessWasKilled) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  const pid_t child = fork();
  if (child == 0) {
    auto results = Results::open(path);
    if (!results || !(*results)->append(observation(4), 1) || !(*results)->annotate("a", {true, "kept"}, 1)) _exit(2);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto results = open(path);
  EXPECT_EQ(results->notes()->at("a"), (RunNote{true, "kept"}));
  EXPECT_EQ(count(*results), 1);
}

// As versions before notes made it.
TEST(Results, AFileWithoutNotesGetsThem) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  append(*open(path), observation(4), 1);
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("DROP TABLE note");
  auto results = open(path);
  EXPECT_TRUE(results->notes()->empty());
  ASSERT_TRUE(results->annotate("a", {true, ""}, 1));
  EXPECT_EQ(results->notes()->size(), 1u);
  EXPECT_EQ(count(*results), 1);
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

TEST(Results, ANewerSchemaIsLeftAloneByteForByte) {
  const auto bytes_of = [](const std::filesystem::path& file) {
    return platform::read_file(file, 1 << 20).value_or("not read");
  };
  // The ways in which a newer version may have written it; this one would change the header of the other's file.
  for (const char* mode : {"PRAGMA journal_mode=DELETE", "PRAGMA journal_mode=WAL"})
    for (const bool shared_memory : {true, false}) {
      SCOPED_TRACE(std::string(mode) + (shared_memory ? "" : ", without shared memory"));
      TempDir dir;
      const auto path = dir / "r.sqlite";
      { auto results = open(path); }
      sqlite3* raw = nullptr;
      ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
      ASSERT_EQ(sqlite3_exec(raw, mode, nullptr, nullptr, nullptr), SQLITE_OK);
      ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
      sqlite3_close(raw);
      const std::string before = bytes_of(path);
      auto opened = ResultsDatabase::open(path, {.locks = true, .shared_memory = shared_memory});
      ASSERT_FALSE(opened);
      EXPECT_THAT(opened.error().message, HasSubstr("newer version"));
      auto results = Results::open(path);
      ASSERT_FALSE(results);
      EXPECT_THAT(results.error().message, HasSubstr("newer version"));
      EXPECT_EQ(bytes_of(path), before);
    }
}

// A newer version that was killed left a log, which it reads again.
TEST(Results, ANewerSchemasLogIsLeftAlone) {
  TempDir dir;
  const auto path = dir / "r.sqlite", copy = dir / "copy.sqlite";
  { auto results = open(path); }
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  std::filesystem::copy_file(path, copy);
  std::filesystem::copy_file(path.string() + "-wal", copy.string() + "-wal");
  sqlite3_close(raw);
  const auto bytes_of = [&](const char* end) {
    return platform::read_file(copy.string() + end, 1 << 20).value_or("not read");
  };
  const std::string file = bytes_of(""), log = bytes_of("-wal");
  auto results = Results::open(copy);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message, HasSubstr("newer version"));
  EXPECT_EQ(bytes_of(""), file);
  EXPECT_EQ(bytes_of("-wal"), log);
}

// Runs `body` in a child and returns its exit status: a limit on file sizes holds for the whole process. No file may
// grow past `most` bytes there, as on a full disk, until has_room().
template <class Body>
int on_full_disk(rlim_t most, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit sizes{};
    getrlimit(RLIMIT_FSIZE, &sizes);
    sizes.rlim_cur = most;
    setrlimit(RLIMIT_FSIZE, &sizes);
    _exit(body());
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
void has_room() {
  rlimit sizes{};
  getrlimit(RLIMIT_FSIZE, &sizes);
  sizes.rlim_cur = sizes.rlim_max;
  setrlimit(RLIMIT_FSIZE, &sizes);
}

TEST(Results, AFullDiskIsAWarningAndOldRowsStay) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  {
    auto results = open(path);
    append(*results, observation(4), 1);
  }
  const rlim_t most = std::filesystem::file_size(path) + 65536;  // leaves room for the shared index (32 KB)
  const int status = on_full_disk(most, [&] {
    auto results = Results::open(path);
    if (!results) return 2;
    Observation large = observation(8);
    large.variant.emplace();
    large.variant->log = std::string(400000, 'x');
    auto done = (*results)->append(large, 2);
    if (done || done.error().stage != Stage::store || done.error().message.find("r.sqlite") == std::string::npos)
      return 3;
    if ((*results)->take_trouble()) return 4;
    if (!(*results)->append(observation(16), 3)) return 5;  // a small one still fits
    return 0;
  });
  EXPECT_EQ(status, 0);
  auto results = open(path);
  EXPECT_EQ(count(*results), 2);
}

// The shared index of a write-ahead log is made when the file is opened, so the file cannot be opened for writing here.
TEST(Results, OnAFullDiskTheHistoryIsReadUntilThereIsRoom) {
  TempDir dir;
  const auto path = dir / "r.sqlite";
  {
    auto results = open(path);
    append(*results, observation(4), 1);
  }
  const int status = on_full_disk(0, [&] {
    auto results = Results::open(path);
    if (!results) return 2;
    if (newest_us(**results, observation(4)) != 839.38) return 3;
    const auto done = (*results)->append(observation(8), 2);
    if (done || done.error().message.find("r.sqlite") == std::string::npos) return 4;
    if (done.error().hint.find("Free some space") == std::string::npos) return 5;
    if (Results::open(dir / "new.sqlite")) return 6;  // there is nothing to read
    has_room();
    if (!(*results)->append(observation(8), 3)) return 7;
    return 0;
  });
  EXPECT_EQ(status, 0);
  auto results = open(path);
  EXPECT_EQ(count(*results), 2);
}

}  // namespace
}  // namespace attnscope::store
