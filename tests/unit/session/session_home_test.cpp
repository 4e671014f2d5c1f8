// Homes that cannot be written, or where files have no locks: the session goes on, says so once and loses nothing.
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "session_fixture.h"
#include "store/results.h"
#include "support/unprivileged.h"

namespace attnscope::session {
namespace {

using testing_support::read_text;

class ReadOnlyHome : public SessionTest {
 protected:
  // Gives the files to a user without rights, as whom unprivileged() continues when this process is root.
  void hand_over() const {
    if (geteuid() != 0) return;
    constexpr unsigned kNobody = 65534;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path()))
      ASSERT_EQ(chown(entry.path().c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(chown(dir_.path().c_str(), kNobody, kNobody), 0);
  }
  void writable(bool may) {
    const std::filesystem::path home = options_.state_dir;
    for (const auto& entry : std::filesystem::directory_iterator(home))
      std::filesystem::permissions(entry.path(), std::filesystem::perms(may ? 0666 : 0444));
    std::filesystem::permissions(home, std::filesystem::perms(may ? 0777 : 0555));
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(options_.state_dir))
      all[entry.path().filename()] = read_text(entry.path());
    return all;
  }
  static auto told(const Snapshot& s, const std::string& words) {
    return std::ranges::count_if(s.toasts, [&](const Toast& one) { return one.text.find(words) != std::string::npos; });
  }
  void read_only();
  int64_t rows() {
    auto results = store::Results::open(options_.state_dir / "results.sqlite");
    EXPECT_TRUE(results) << results.error().message;
    return results ? (*results)->count().value_or(-1) : -1;
  }
};

void ReadOnlyHome::read_only() {
  writable(false);
  const auto before = files();
  start();
  ASSERT_TRUE(session_);
  Seen s = wait_for_run(8);
  EXPECT_FALSE(s->focus.failure);
  EXPECT_FALSE(s->first_start) << "it goes on where the last one was";
  EXPECT_EQ(s->settings->value("theme", ""), "light");
  s = wait_for([](const Snapshot& n) { return n.history.size >= 3; }, "what was kept, and the first run");
  EXPECT_EQ(s->history.at(0).observation->experiment.config.knobs.at("NUM_WARPS"), 4);

  focus(2);
  wait_for_run(2);
  focus(1);
  wait_for_run(1);
  session_->set_setting("theme", "dark");
  session_->set_setting("zoom", 1.5);
  s = wait_for([](const Snapshot& n) { return told(n, "settings.json") > 0 || told(n, "journal.json") > 0; },
               "the message on what is not written");
  EXPECT_FALSE(session_->queue(tiled(6)).get().failure);
  s = session_->snapshot();
  EXPECT_EQ(told(*s, "Results are not being kept"), 1);
  EXPECT_EQ(told(*s, "settings.json") + told(*s, "journal.json"), 1);
  EXPECT_EQ(s->settings->value("theme", ""), "dark") << "this window goes by it";
  EXPECT_EQ(files(), before);

  writable(true);
  EXPECT_FALSE(session_->queue(tiled(4)).get().failure);
  stop();
  EXPECT_EQ(rows(), 2 + 5) << "the first run, two more, and two of the queue";
  const Json kept = Json::parse(read_text(options_.state_dir / "settings.json"));
  EXPECT_EQ(kept.value("theme", ""), "dark");
  EXPECT_EQ(kept.value("zoom", 0.0), 1.5);
}

TEST_F(ReadOnlyHome, EverythingRunsIsSaidOnceAndIsKeptOnceItCanBe) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  session_->set_setting("theme", "light");
  stop();
  ASSERT_EQ(rows(), 2);
  hand_over();
  const auto failures = [this] {
    read_only();
    std::fflush(nullptr);
    return HasFailure() ? 1 : 0;
  };
  EXPECT_EQ(testing_support::unprivileged(dir_.path(), std::filesystem::perms(0755), failures), 0);
}

// Run with tests/support/network_home.cpp preloaded, as are others of this program (tests/support/CMakeLists.txt).
TEST(NetworkHome, FilesHaveNoLocks) {
  if (std::getenv("ATTNSCOPE_NETWORK_HOME") == nullptr) GTEST_SKIP() << "not preloaded";
  const testing_support::TempDir folder;
  FILE* file = std::fopen(folder.write("file", "x").c_str(), "r+");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(flock(fileno(file), LOCK_EX | LOCK_NB), -1);
  EXPECT_EQ(errno, ENOLCK);
  std::fclose(file);
}

}  // namespace
}  // namespace attnscope::session
