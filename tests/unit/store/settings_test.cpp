#include "store/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/journal.h"
#include "support/temp_dir.h"
#include "support/unprivileged.h"

namespace attnscope::store {
namespace {

using testing::HasSubstr;
using testing_support::read_text;
using testing_support::TempDir;
using testing_support::unprivileged;

class SettingsFile : public testing::Test {
 protected:
  Settings load() { return Settings::load(path_, trouble_); }
  void save(Settings& settings) {
    auto saved = settings.save();
    EXPECT_TRUE(saved) << saved.error().message;
  }
  Json file() const { return Json::parse(read_text(path_)); }
  void write(const Json& json) { dir_.write("settings.json", json.dump()); }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "settings.json";
  std::optional<Failure> trouble_;
};

TEST_F(SettingsFile, KeepsKeysOfOtherVersions) {
  write({{"theme", "dark"}, {"from_the_future", {{"a", {1}}}}});
  Settings settings = load();
  EXPECT_FALSE(trouble_);
  settings.set("theme", "light");
  settings.set("zoom", 1.25);
  save(settings);
  EXPECT_EQ(file(), (Json{{"theme", "light"}, {"zoom", 1.25}, {"from_the_future", {{"a", {1}}}}}));
  settings.set("zoom", nullptr);
  save(settings);
  EXPECT_FALSE(file().contains("zoom"));
}

TEST_F(SettingsFile, AnEditByHandStays) {
  write({{"theme", "dark"}, {"workers", {{"a", "ssh a attnscope worker"}}}, {"gone", 1}});
  Settings settings = load();
  const Json workers{{"l4box", "ssh l4box attnscope worker"}};
  write({{"theme", "dark"}, {"workers", workers}});  // an edit by hand
  settings.set("theme", "light");
  save(settings);
  EXPECT_EQ(file(), (Json{{"theme", "light"}, {"workers", workers}}));
  EXPECT_EQ(settings.all(), file()) << "and this object has it now";
}

TEST_F(SettingsFile, TwoWindowsKeepWhatEachChanged) {
  Settings a = load(), b = load();
  a.set("window", Json{{"theme", "light"}, {"zoom", 1.0}, {"closed", {"Log"}}});
  save(a);
  b = load();
  Json of_a = a.all()["window"], of_b = b.all()["window"];
  of_a["zoom"] = 1.5;
  of_b["theme"] = "dark";
  of_b.erase("closed");
  a.set("window", of_a);
  save(a);
  b.set("window", of_b);
  save(b);
  EXPECT_EQ(file(), (Json{{"window", {{"theme", "dark"}, {"zoom", 1.5}}}}));
}

TEST_F(SettingsFile, ManyProcessesLoseNothing) {
  constexpr int kProcesses = 4, kKeys = 10;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      Settings settings = load();
      for (int key = 0; key < kKeys; ++key) {
        settings.set("p" + std::to_string(process) + "k" + std::to_string(key), key);
        while (!settings.save()) {  // on a slow disk it may not get the lock in time; the change waits
        }
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(file().size(), size_t{kProcesses} * kKeys);
}

TEST_F(SettingsFile, EveryDamagedFileIsPutAsideUnderItsOwnName) {
  for (int n = 1; n <= 2; ++n) {
    const std::string damaged = "{\"theme\":" + std::string(static_cast<size_t>(n), ' ');
    dir_.write("settings.json", damaged);
    Settings settings = load();
    ASSERT_TRUE(trouble_);
    EXPECT_THAT(trouble_->message, HasSubstr("settings.json"));
    EXPECT_THAT(trouble_->hint, HasSubstr("settings.json.damaged-" + std::to_string(n)));
    EXPECT_EQ(settings.all(), Json::object());
    EXPECT_EQ(read_text(dir_ / ("settings.json.damaged-" + std::to_string(n))), damaged);
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

TEST_F(SettingsFile, AFileInTheMiddleOfAnEditIsLeftAlone) {
  write({{"theme", "dark"}});
  Settings settings = load();
  settings.set("theme", "light");
  dir_.write("settings.json", "{\"workers\": {");
  auto saved = settings.save();
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("settings.json"));
  EXPECT_EQ(read_text(path_), "{\"workers\": {");
  write({{"theme", "dark"}, {"workers", Json::object()}});
  save(settings);
  EXPECT_EQ(file(), (Json{{"theme", "light"}, {"workers", Json::object()}}));
}

TEST_F(SettingsFile, ALinkStaysALink) {
  dir_.write("dotfiles/settings.json", "{}");
  std::filesystem::create_symlink("dotfiles/settings.json", path_);
  Settings settings = load();
  settings.set("theme", "light");
  save(settings);
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(file(), (Json{{"theme", "light"}}));
}

TEST_F(SettingsFile, WhatCannotBeReadIsNotTakenForDamageAndStays) {
  write({{"theme", "dark"}});
  dir_.write("journal.json", "{}");
  for (const char* name : {"settings.json", "journal.json"}) ASSERT_EQ(chmod((dir_ / name).c_str(), 0), 0);
  const int failed = unprivileged(dir_.path(), std::filesystem::perms(0777), [&] {
    Settings settings = load();
    if (!trouble_ || trouble_->message.find("Permission denied") == std::string::npos) return 1;
    settings.set("theme", "light");
    if (settings.save()) return 2;
    if (read_journal(dir_ / "journal.json", {})) return 3;
    if (write_journal(dir_ / "journal.json", {}, {})) return 4;
    return 0;
  });
  for (const char* name : {"settings.json", "journal.json"}) ASSERT_EQ(chmod((dir_ / name).c_str(), 0644), 0);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(file(), (Json{{"theme", "dark"}}));
  EXPECT_EQ(read_text(dir_ / "journal.json"), "{}");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "settings.json.damaged-1"));
}

TEST(JournalFile, OneThatCannotBeUnderstoodIsMovedAside) {
  TempDir dir;
  const std::vector<std::string> damaged{"{{{", R"({"attnscope_journal":2,"last":{}})",
                                         R"({"attnscope_journal":1,"last":{}})"};
  for (size_t n = 0; n < damaged.size(); ++n) {
    const auto path = dir.write("journal.json", damaged[n]);
    auto read = read_journal(path, {});
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("journal.json"));
    const std::string name = "journal.json.damaged-" + std::to_string(n + 1);
    EXPECT_THAT(read.error().hint, HasSubstr(name));
    EXPECT_EQ(read_text(dir / name), damaged[n]);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(JournalFile, OneOfADeletedKernelStays) {
  TempDir dir;
  const auto path =
      dir.write("journal.json", R"({"attnscope_journal":1,"last":{"attnscope_preset":1,"kernel":"gone"}})");
  EXPECT_FALSE(read_journal(path, {}));
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace attnscope::store
