// A results file that is damaged, replaced by another process, or on a file system that lacks locks or shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "platform/file_lock.h"
#include "store/results.h"
#include "store/results_database.h"
#include "store/salvage.h"
#include "support/temp_dir.h"
#include "support/unprivileged.h"
#include "unit/store/sample_observation.h"

namespace attnscope::store {
namespace {

using testing::HasSubstr;
using testing_support::read_text;
using testing_support::TempDir;
using testing_support::unprivileged;

constexpr size_t kPage = 4096;

Observation observation(int64_t warps) {
  Observation o = sample_observation(warps, static_cast<double>(warps));
  o.verdict.emplace().state = VerdictState::correct;
  return o;
}

class DamagedResults : public testing::Test {
 protected:
  std::unique_ptr<Results> open() {
    auto results = Results::open(path_);
    EXPECT_TRUE(results) << results.error().message;
    return results ? std::move(*results) : nullptr;
  }
  void append(Results& results, int64_t warps) {
    auto done = results.append(observation(warps), 1);
    EXPECT_TRUE(done) << done.error().message;
  }
  void fill(int rows) {
    auto results = open();
    for (int i = 1; i <= rows; ++i) append(*results, i);
  }
  bool holds(Results& results, int64_t warps) {
    auto newest = results.newest(observation(warps).hash);
    EXPECT_TRUE(newest) << newest.error().message;
    return newest && *newest && (*newest)->observation == observation(warps);
  }
  // The row's text contains its config; the table of keys has a copy of it, but no hash.
  static size_t place_of(const std::string& bytes, int64_t warps) {
    const size_t hash = bytes.find("\"hash\":\"" + observation(warps).hash);
    const size_t at = bytes.rfind("\"NUM_WARPS\":" + std::to_string(warps) + "}", hash);
    EXPECT_TRUE(hash != bytes.npos && at != bytes.npos && hash - at < 1000);
    return at;
  }
  // Overwrites the page that holds that row's text.
  void damage_row(int64_t warps) {
    std::string bytes = read_text(path_);
    const size_t at = place_of(bytes, warps);
    std::memset(bytes.data() + at / kPage * kPage, 0x5a, kPage);
    dir_.write("r.sqlite", bytes);
  }
  // Called after leave_a_log(), as on a machine with shared memory.
  void expect_two_to_share(ResultsFileSystem file_system) {
    auto opened = ResultsDatabase::open(path_, file_system);
    ASSERT_TRUE(opened) << opened.error().message;
    auto second = ResultsDatabase::open(path_, file_system);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ((*opened)->connection.execAndGet("SELECT count(*) FROM observation").getInt(), 3);
    const char* insert = "INSERT INTO observation(hash, finished_at, app, json) VALUES ('h', 1, 'a', '{}')";
    EXPECT_EQ((*opened)->connection.exec(insert), 1);
    EXPECT_EQ((*second)->connection.exec(insert), 1);
    EXPECT_EQ((*opened)->connection.execAndGet("SELECT count(*) FROM observation").getInt(), 5);
  }
  // Leaves three rows in the log, from a process that did not close it.
  void leave_a_log() {
    const pid_t writer = fork();
    if (writer == 0) {
      auto results = Results::open(path_);
      for (int i = 1; results && i <= 3; ++i) (void)(*results)->append(observation(i), 1);
      _exit(0);
    }
    ASSERT_EQ(waitpid(writer, nullptr, 0), writer);
    ASSERT_GT(std::filesystem::file_size(path_.string() + "-wal"), 0u);
  }
  std::string aside(int n) const { return read_text(dir_ / ("r.sqlite.damaged-" + std::to_string(n))); }
  bool aside_exists(int n) const { return std::filesystem::exists(dir_ / ("r.sqlite.damaged-" + std::to_string(n))); }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "r.sqlite";
};

// Otherwise the repair would continue and lose the remaining rows.
TEST_F(DamagedResults, NotesThatTheNewFileDoesNotTakeAreItsFault) {
  {
    auto results = open();
    for (int i = 1; i <= 10; ++i)
      ASSERT_TRUE(results->annotate(observation(i).hash, {true, std::string(RunNote::kMostBytes, 'n')}, 1));
  }
  SQLite::Database into((dir_ / "new.sqlite").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  ResultsDatabase::make_schema(into);
  into.exec("PRAGMA max_page_count=1");  // as many as it has
  EXPECT_THROW(copy_readable_rows(path_, into), SQLite::Exception);
  into.exec("PRAGMA max_page_count=1000");
  EXPECT_EQ(copy_readable_rows(path_, into), 0);
  EXPECT_EQ(into.execAndGet("SELECT count(*) FROM note").getInt(), 10);
}

TEST_F(DamagedResults, NotesComeAlongIntoTheNewFile) {
  fill(30);
  {
    auto results = open();
    ASSERT_TRUE(results->annotate(observation(7).hash, {true, "keep this"}, 1));
  }
  damage_row(5);
  auto results = open();
  for (int i = 1; i <= 30; ++i) results->newest(observation(i).hash);
  ASSERT_TRUE(results->take_trouble()) << "it was mended";
  EXPECT_EQ(results->notes()->at(observation(7).hash), (RunNote{true, "keep this"}));
}

TEST_F(DamagedResults, OneDamagedPageCostsItsOwnRowsOnly) {
  constexpr int kRows = 300;
  fill(kRows);
  damage_row(150);
  const std::string damaged = read_text(path_);
  auto results = open();
  auto all = results->correct(Problem{});
  ASSERT_TRUE(all) << all.error().message;
  const auto trouble = results->take_trouble();
  ASSERT_TRUE(trouble);
  EXPECT_THAT(trouble->hint, HasSubstr("r.sqlite.damaged-1"));
  EXPECT_EQ(aside(1), damaged);
  EXPECT_GE(all->size(), kRows - 10u);
  EXPECT_LT(all->size(), size_t{kRows});
  EXPECT_THAT(trouble->hint, HasSubstr(" " + std::to_string(all->size()) + " could be read"));
  EXPECT_EQ(all->front().observation, observation(kRows)) << "the order stays";
  EXPECT_EQ(all->back().observation, observation(1));
  EXPECT_FALSE(holds(*results, 150));
  append(*results, 150);
  EXPECT_EQ(results->correct(Problem{})->front().observation, observation(150));
}

TEST_F(DamagedResults, ADamagedTableOfKeysCostsNoRow) {
  constexpr int kRows = 300;
  fill(kRows);
  std::string bytes = read_text(path_);
  const size_t at = bytes.find("\"NUM_WARPS\":150}");
  ASSERT_NE(at, bytes.npos);
  ASSERT_NE(at, place_of(bytes, 150)) << "the copy comes first";
  std::memset(bytes.data() + at / kPage * kPage, 0x5a, kPage);
  dir_.write("r.sqlite", bytes);
  auto results = open();
  auto all = results->correct(Problem{});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(results->take_trouble());
  EXPECT_EQ(all->size(), size_t{kRows});
}

TEST_F(DamagedResults, RowsBetweenTwoDamagedPagesAreKept) {
  fill(300);
  damage_row(50);
  damage_row(250);
  auto results = open();
  append(*results, 301);
  auto all = results->correct(Problem{});
  ASSERT_TRUE(all && results->take_trouble());
  EXPECT_GE(all->size(), 280u);
  EXPECT_TRUE(holds(*results, 150));
  EXPECT_TRUE(holds(*results, 301));
}

TEST_F(DamagedResults, TextThatIsDamagedUnseenCostsItsRowOnly) {
  fill(20);
  std::string bytes = read_text(path_);
  bytes[place_of(bytes, 7)] = '}';
  dir_.write("r.sqlite", bytes);
  auto results = open();
  auto all = results->correct(Problem{});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), 19u);
}

TEST_F(DamagedResults, ASecondProcessTakesTheRepairedFile) {
  fill(300);
  auto first = open(), second = open();
  append(*first, 301);
  damage_row(150);
  ASSERT_TRUE(first->correct(Problem{}));
  EXPECT_TRUE(first->take_trouble());
  append(*second, 302);
  EXPECT_FALSE(second->take_trouble()) << "it has nothing to repair";
  EXPECT_TRUE(holds(*first, 302)) << "both write to one file";
  EXPECT_TRUE(aside_exists(1));
  EXPECT_FALSE(aside_exists(2)) << "the healthy file stays";
}

TEST_F(DamagedResults, TwoThatSeeTheSameDamageMoveItOnce) {
  fill(300);
  damage_row(150);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto results = Results::open(path_);
      if (!results) _exit(1);
      auto all = (*results)->correct(Problem{});
      if (!all || all->size() < 290) _exit(2);
      _exit((*results)->append(observation(1000 + i), 1) ? 0 : 3);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(aside_exists(1));
  EXPECT_FALSE(aside_exists(2));
  auto results = open();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(holds(*results, 1000 + i)) << i;
}

TEST_F(DamagedResults, AFileThatIsTakenAwayIsMadeAgain) {
  auto results = open();
  append(*results, 1);
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
  append(*results, 2);
  results.reset();
  results = open();
  EXPECT_TRUE(holds(*results, 2));
}

TEST_F(DamagedResults, AFileThatAnotherProcessRepairsIsLeftToItAndTriedTheNextTime) {
  auto results = open();
  append(*results, 1);
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
  {
    const auto mending = platform::FileLock::within(path_.string() + ".opening", 0);
    ASSERT_TRUE(mending && mending->held());
    const auto refused = results->append(observation(2), 1);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("is repairing it"));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  append(*results, 2);
  EXPECT_TRUE(holds(*results, 2));
}

// While an object of this class lives, one of SQLite's system calls fails.
class BrokenCall {
 public:
  BrokenCall(const char* name, sqlite3_syscall_ptr replacement) : name_(name) {
    vfs_ = sqlite3_vfs_find("unix");
    before_ = vfs_->xGetSystemCall(vfs_, name);
    vfs_->xSetSystemCall(vfs_, name, replacement);
  }
  ~BrokenCall() { vfs_->xSetSystemCall(vfs_, name_, before_); }

 private:
  const char* name_;
  sqlite3_vfs* vfs_;
  sqlite3_syscall_ptr before_;
};

void* no_mmap(void*, size_t, int, int, int, off_t) {
  errno = ENODEV;
  return MAP_FAILED;
}

int no_locks(int, int, ...) {
  errno = ENOLCK;
  return -1;
}

TEST_F(DamagedResults, WithoutSharedMemoryRowsAreKept) {
  leave_a_log();
  const BrokenCall broken("mmap", reinterpret_cast<sqlite3_syscall_ptr>(no_mmap));
  expect_two_to_share({.locks = true, .shared_memory = false});
}

TEST_F(DamagedResults, WithoutLocksRowsAreKept) {
  leave_a_log();
  const BrokenCall mmap_broken("mmap", reinterpret_cast<sqlite3_syscall_ptr>(no_mmap));
  const BrokenCall locks_broken("fcntl", reinterpret_cast<sqlite3_syscall_ptr>(no_locks));
  expect_two_to_share({.locks = false, .shared_memory = false});
}

TEST_F(DamagedResults, AReadOnlyFolderIsRead) {
  leave_a_log();
  const auto look = [&] {
    auto results = Results::open(path_);
    if (!results) return 1;
    auto all = (*results)->correct(Problem{});
    if (!all || all->size() != 3) return 2;
    auto done = (*results)->append(observation(4), 1);
    if (done || done.error().message.find("cannot be written") == std::string::npos) return 3;
    return (*results)->take_trouble() ? 4 : 0;
  };
  using std::filesystem::perms;
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::permissions(path_.string() + end, perms(0444));
  EXPECT_EQ(unprivileged(dir_.path(), perms(0555), look), 0) << "with a log";
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::permissions(path_.string() + end, perms(0644));
  { auto results = open(); }  // merges the log
  ASSERT_FALSE(std::filesystem::exists(path_.string() + "-wal"));
  EXPECT_EQ(unprivileged(dir_.path(), perms(0555), look), 0) << "without a log";
}

// Another process may be writing what is then read without locks.
TEST_F(DamagedResults, WhatCannotBeOpenedToWriteIsNotMovedAside) {
  fill(3);
  std::string bytes = read_text(path_);
  constexpr size_t header = 100;
  std::memset(bytes.data() + header, 0x5a, kPage - header);
  dir_.write("r.sqlite", bytes);
  {
    const BrokenCall broken("mmap", reinterpret_cast<sqlite3_syscall_ptr>(no_mmap));
    EXPECT_FALSE(Results::open(path_));
  }
  EXPECT_FALSE(aside_exists(1));
  EXPECT_EQ(read_text(path_), bytes);
  auto results = open();
  EXPECT_TRUE(aside_exists(1)) << "with locks it is known to be damaged";
}

// SQLite then reads the path as a URI.
TEST_F(DamagedResults, AReadOnlyFileIsReadWhateverItsName) {
  fill(2);
  for (const char* name : {"50%20.sqlite", "why?mode=rw", "a#b", "a b&c=d", "e\u0301"}) {
    std::filesystem::copy_file(path_, dir_ / name);
    SQLite::Database sql = open_read_only(dir_ / name);
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM observation").getInt(), 2) << name;
  }
}

TEST(ResultsDatabase, RefusedMemoryIsNoDamage) {
  EXPECT_TRUE(is_no_memory(SQLite::Exception("", SQLITE_NOMEM)));
  EXPECT_FALSE(is_no_memory(SQLite::Exception("", SQLITE_CORRUPT)));
  EXPECT_FALSE(is_no_memory(SQLite::Exception("", SQLITE_IOERR)));
}

}  // namespace
}  // namespace attnscope::store
