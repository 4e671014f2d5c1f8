// Memory that runs out while a file is read or written, in our code and in SQLite: the file is the old one or the new
// one, nothing is left beside it, and lack of memory never counts as damage.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compile/disk_cache.h"
#include "core/observation.h"
#include "store/journal.h"
#include "store/preset.h"
#include "store/results.h"
#include "store/settings.h"
#include "support/refused_allocation.h"
#include "support/temp_dir.h"

namespace attnscope::store {
namespace {

namespace fs = std::filesystem;
using testing_support::read_text;
using testing_support::refuse_each;
using testing_support::TempDir;

sqlite3_mem_methods sqlites_own;

// SQLite allocates with malloc; these functions go through the same count as operator new.
const int refusing = [] {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlites_own);
  static sqlite3_mem_methods methods = sqlites_own;
  methods.xMalloc = [](int bytes) {
    return testing_support::refuse_this_allocation() ? nullptr : sqlites_own.xMalloc(bytes);
  };
  methods.xRealloc = [](void* old, int bytes) {
    return testing_support::refuse_this_allocation() ? nullptr : sqlites_own.xRealloc(old, bytes);
  };
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}();

Observation observation(int64_t warps) {
  Observation o;
  o.experiment.kernel = "tiled";
  o.experiment.config.knobs["NUM_WARPS"] = warps;
  o.hash = hash_of(o.experiment);
  o.device = "emulated:l4";
  o.verdict.emplace().state = VerdictState::correct;
  o.timing.emplace();
  o.timing->p50 = static_cast<double>(warps);
  return o;
}

std::vector<Kernel> kernels() {
  Kernel tiled;
  tiled.id = "tiled";
  tiled.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""}};
  return {tiled};
}

Preset preset(int64_t warps) {
  Preset p;
  p.title = "W" + std::to_string(warps);
  p.kernel = "tiled";
  p.config.knobs = {{"NUM_WARPS", warps}};
  return p;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}
using Names = std::vector<std::string>;

TEST(RefusedAllocations, OfAPresetLeaveTheOldFileOrTheNew) {
  TempDir dir;
  const auto path = dir / "mine.json";
  ASSERT_TRUE(write_preset(path, preset(4), kernels()));
  const std::string before = read_text(path);
  ASSERT_TRUE(write_preset(path, preset(8), kernels()));
  const std::string after = read_text(path);
  bool to_eight = false;
  const auto refusals = refuse_each(
      [&]() -> Result<void> {
        to_eight = !to_eight;
        if (auto written = write_preset(path, preset(to_eight ? 8 : 4), kernels()); !written) return written;
        const auto read = read_preset(path, kernels());
        if (!read) return fail(read.error());
        return {};
      },
      1000,
      [&] {
        const std::string text = read_text(path);
        EXPECT_TRUE(text == before || text == after) << text;
        EXPECT_EQ(names_in(dir.path()), Names{"mine.json"});
      });
  EXPECT_GT(refusals.thrown + refusals.failed, 0);
}

TEST(RefusedAllocations, OfSettingsKeepWhatAPersonWrote) {
  TempDir dir;
  const auto path = dir.write("settings.json", R"({"workers": {"l4box": "ssh l4box attnscope worker"}})");
  int64_t zoom = 0;
  const auto refusals = refuse_each(
      [&]() -> Result<void> {
        std::optional<Failure> trouble;
        Settings settings = Settings::load(path, trouble);
        if (trouble) return fail(*trouble);
        settings.set("zoom", ++zoom);
        return settings.save();
      },
      1000,
      [&] {
        const Json now = Json::parse(read_text(path));
        EXPECT_EQ(now["workers"]["l4box"], "ssh l4box attnscope worker");
        Names names = names_in(dir.path());
        std::erase(names, "settings.json.lock");
        EXPECT_EQ(names, Names{"settings.json"});
      });
  EXPECT_GT(refusals.thrown + refusals.failed, 0);
}

TEST(RefusedAllocations, OfAJournalLeaveOneThatCanBeRead) {
  TempDir dir;
  const auto path = dir / "journal.json";
  const Journal journal{preset(8), "", {preset(4)}};
  ASSERT_TRUE(write_journal(path, journal, kernels()));
  const auto refusals = refuse_each(
      [&]() -> Result<void> {
        if (auto written = write_journal(path, journal, kernels()); !written) return written;
        const auto read = read_journal(path, kernels());
        if (!read) return fail(read.error());
        return {};
      },
      1000,
      [&] {
        EXPECT_EQ(names_in(dir.path()), Names{"journal.json"});
        const auto read = read_journal(path, kernels());
        EXPECT_TRUE(read && *read) << (read ? "" : read.error().message);
      });
  EXPECT_GT(refusals.thrown + refusals.failed, 0);
}

TEST(RefusedAllocations, OfACacheLeaveAWholeEntryOrNone) {
  TempDir dir;
  const compile::DiskCache cache(dir.path(), "thing", 1 << 20);
  const std::string payload(1000, 'x');
  const auto refusals = refuse_each(
      [&]() -> Result<void> {
        if (auto put = cache.put("k", payload); !put) return put;
        const auto found = cache.get("k");
        cache.trim();
        if (!found.complaint.empty()) return fail(Stage::store, found.complaint);
        return {};
      },
      1000,
      [&] {
        const auto found = cache.get("k");
        EXPECT_EQ(found.complaint, "");
        EXPECT_EQ(found.payload.value_or(payload), payload);
        EXPECT_LE(names_in(dir.path()).size(), 1u);
      });
  EXPECT_GT(refusals.thrown + refusals.failed, 0);
}

class RefusedByTheDatabase : public testing::Test {
 protected:
  RefusedByTheDatabase() { EXPECT_EQ(refusing, SQLITE_OK) << "SQLite was set up before this could"; }

  int64_t rows() {
    auto results = Results::open(path_);
    EXPECT_TRUE(results) << results.error().message;
    if (!results) return -1;
    const auto counted = (*results)->count();
    EXPECT_TRUE(counted) << counted.error().message;
    const auto trouble = (*results)->take_trouble();
    EXPECT_FALSE(trouble) << trouble->message;
    return counted.value_or(-1);
  }

  static constexpr int64_t kMost = 60;  // refusals: a disk is slow
  TempDir dir_;
  fs::path path_ = dir_ / "results.sqlite";
};

TEST_F(RefusedByTheDatabase, ARowIsAddedOrNot) {
  {
    auto results = Results::open(path_);
    ASSERT_TRUE(results && (*results)->append(observation(4), 1));
  }
  const std::string one_row = read_text(path_);
  bool answered = false;
  const auto refusals = refuse_each(
      [&]() -> Result<void> {
        for (const std::string& name : names_in(dir_.path())) fs::remove(dir_ / name);
        std::ofstream(path_, std::ios::binary) << one_row;
        answered = false;
        auto results = Results::open(path_);
        if (!results) return fail(results.error());
        if (auto done = (*results)->append(observation(8), 1); !done) return done;
        answered = true;
        if (const auto newest = (*results)->newest(observation(8).hash); !newest) return fail(newest.error());
        if (const auto latest = (*results)->latest(2); !latest) return fail(latest.error());
        if (const auto correct = (*results)->correct(Problem{}); !correct) return fail(correct.error());
        if (const auto trouble = (*results)->take_trouble()) return fail(*trouble);
        return {};
      },
      kMost,
      [&] {
        const int64_t there = rows();
        EXPECT_GE(there, answered ? 2 : 1);
        EXPECT_LE(there, 2);
        for (const std::string& name : names_in(dir_.path()))
          EXPECT_EQ(name.find("damaged"), std::string::npos) << name;
      });
  EXPECT_GT(refusals.failed, 0);
  EXPECT_GT(refusals.thrown, 0);
}

// Every readable row of a damaged file is in the new one, or the damaged one is still there.
TEST_F(RefusedByTheDatabase, MendingLosesNoRow) {
  constexpr int64_t kRows = 60;
  constexpr size_t kPage = 4096;
  {
    auto results = Results::open(path_);
    ASSERT_TRUE(results);
    for (int64_t i = 0; i < kRows; ++i) ASSERT_TRUE((*results)->append(observation(i), 1));
  }
  const std::string whole = read_text(path_);
  std::string damaged = whole;
  damaged.replace(whole.size() / 2 / kPage * kPage, kPage, kPage, '\xff');  // in the middle: both directions reach it
  const auto reset = [&] {
    for (const std::string& name : names_in(dir_.path())) fs::remove(dir_ / name);
    std::ofstream(path_, std::ios::binary) << damaged;
  };
  bool told = false;
  const auto ask = [&]() -> Result<int64_t> {
    auto results = Results::open(path_);
    if (!results) return fail(results.error());
    const auto latest = (*results)->latest(1000);
    if (!latest) return fail(latest.error());
    told = (*results)->take_trouble().has_value();
    return (*results)->count();
  };
  reset();
  const auto readable = ask();
  ASSERT_TRUE(readable) << readable.error().message;
  ASSERT_TRUE(told) << "the damage must show";
  ASSERT_GT(*readable, 0);
  const auto refusals = refuse_each(
      [&]() -> Result<void> {
        reset();
        const auto asked = ask();
        if (!asked) return fail(asked.error());
        return {};
      },
      kMost,
      [&] {
        for (const std::string& name : names_in(dir_.path()))
          EXPECT_EQ(name.find(".tmp"), std::string::npos) << name << " stays behind";
        const auto now = ask();
        ASSERT_TRUE(now) << now.error().message;
        EXPECT_EQ(*now, *readable);
      });
  EXPECT_GT(refusals.failed + refusals.thrown, 0);
}

}  // namespace
}  // namespace attnscope::store
