#include <sys/resource.h>

#include "session_fixture.h"

#include "platform/atomic_file.h"
#include "store/journal.h"
#include "store/results.h"

namespace attnscope::session {
namespace {

using testing::HasSubstr;
using testing_support::read_text;

TEST_F(SessionTest, ASavedKernelFileRunsAgain) {
  start();
  wait_for_run(4);
  const auto path = dir_ / "kernels/02_tiled.cu";
  ASSERT_TRUE(platform::write_file(path, read_text(path) + "\n// edited\n"));
  Seen s = wait_for([](const Snapshot& n) { return n.history.size == 2; }, "the run of the new text");
  EXPECT_THAT(s->history.at(1).change, HasSubstr("02_tiled.cu edited"));
  EXPECT_NE(s->history.at(0).observation->experiment.kernel_hash, s->history.at(1).observation->experiment.kernel_hash);
  const auto asked = requests();
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "kernel"), 2);
}

TEST_F(SessionTest, ABrokenManifestIsSaidAndTheKernelStays) {
  start();
  wait_for_run(4);
  const auto path = dir_ / "kernels/02_tiled.json";
  const std::string good = read_text(path);
  ASSERT_TRUE(platform::write_file(path, std::string_view("{ \"id\": \"tiled\", ")));
  Seen s = wait_for([](const Snapshot& n) { return !n.kernel_failures->empty(); }, "the failure");
  EXPECT_TRUE(toasted(*s, "02_tiled.json"));
  EXPECT_NE(find_kernel(*s, "tiled"), nullptr);
  focus(8);
  EXPECT_FALSE(wait_for_run(8)->focus.failure);
  ASSERT_TRUE(platform::write_file(path, good));
  wait_for([](const Snapshot& n) { return n.kernel_failures->empty(); }, "the repair");
  std::filesystem::remove(path);
  wait_for([](const Snapshot& n) { return find_kernel(n, "tiled") == nullptr; }, "the removal");
}

TEST_F(SessionTest, ANewKernelAppears) {
  start();
  wait_for_run(4);
  std::string manifest = read_text(dir_ / "kernels/01_minimal.json");
  manifest.replace(manifest.find("\"minimal\""), 9, "\"copy\"");
  dir_.write("kernels/09_copy.json", manifest);
  wait_for([](const Snapshot& n) { return find_kernel(n, "copy") != nullptr; }, "the new kernel");
}

TEST_F(SessionTest, PresetsAreListedLoadedAndSaved) {
  dir_.write("presets/w8.json", R"({"attnscope_preset":1,"title":"Eight warps","group":"Reports","kernel":"tiled",
                                    "knobs":{"NUM_WARPS":8},"device":"cuda:0","view":{"head":3}})");
  start();
  Seen s = wait_for_run(4);
  ASSERT_EQ(s->presets->size(), 2u);
  EXPECT_EQ(s->presets->at(0).name, "Eight warps");
  EXPECT_EQ(s->presets->at(0).group, "Reports");
  EXPECT_EQ(s->user_preset_dir, (dir_ / "mine").string());

  session_->load_preset(s->presets->at(0).path);
  s = wait_for_run(8);
  EXPECT_EQ(s->focus.change, "Eight warps");
  EXPECT_EQ(s->focus.wanted.device, "emulated:l4") << "a preset's device is a wish";
  EXPECT_THAT(s->device_reason, HasSubstr("cuda:0 is not here"));
  EXPECT_EQ(s->preset_path, s->presets->at(0).path);
  EXPECT_FALSE(s->preset_modified);
  ASSERT_TRUE(s->preset_view);
  EXPECT_EQ(*s->preset_view, (Json{{"head", 3}}));

  focus(2);
  EXPECT_TRUE(wait_for_run(2)->preset_modified);
  session_->save_preset(dir_ / "mine/two.json", "Two warps", Json{{"head", 1}});
  s = wait_for([](const Snapshot& n) { return n.presets->size() == 3; }, "the new preset");
  EXPECT_EQ(s->presets->back().name, "Two warps");
  EXPECT_EQ(s->presets->back().group, "Yours");
  EXPECT_FALSE(s->preset_modified);
  session_->load_preset(dir_ / "mine/two.json");
  wait_for_run(2);
}

TEST_F(SessionTest, AnInvitationStaysWithItsKernel) {
  const auto path = dir_.write("mine/own.json", R"({"attnscope_preset":1,"kernel":"tiled","invite":{"NUM_WARPS":8}})");
  start();
  wait_for_run(4);
  session_->load_preset(path);
  wait_for([&](const Snapshot& n) { return n.preset_path == path.string(); }, "the preset");
  session_->save_preset(path, "Own", {});
  wait_for([](const Snapshot& n) { return n.presets->back().name == "Own"; }, "the same kernel, saved");
  EXPECT_THAT(read_text(path), HasSubstr("NUM_WARPS\": 8"));
  Draft other = tiled(4);
  other.kernel = "minimal";
  other.config.knobs.clear();
  session_->focus(other, Gesture{++gesture_, true, ""});
  wait_for([](const Snapshot& n) { return n.focus.wanted.kernel == "minimal"; }, "the other kernel");
  session_->save_preset(path, "Other", {});
  wait_for([](const Snapshot& n) { return n.presets->back().name == "Other"; }, "the other kernel, saved");
  EXPECT_THAT(read_text(path), Not(HasSubstr("invite")));
}

TEST_F(SessionTest, PresetsStandByGroupAndLadderAndOnesOwnCanBeChanged) {
  const auto write = [&](const char* name, const char* kernel, const char* group) {
    dir_.write(std::string("presets/") + name,
               std::string(R"({"attnscope_preset":1,"kernel":")") + kernel + R"(","group":")" + group + "\"}");
  };
  write("a.json", "tiled", "Defaults");
  write("b.json", "tiled", "Reports");
  write("c.json", "minimal", "Defaults");
  std::filesystem::create_directories(dir_ / "mine");
  dir_.write("mine/own.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"Own"})");
  options_.preset_dirs = {dir_ / "presets", dir_ / "mine"};
  start();
  Seen s = wait_for_run(4);
  std::vector<std::string> names;
  for (const PresetItem& item : *s->presets) names.push_back(item.name);
  EXPECT_EQ(names, (std::vector<std::string>{"c", "a", "b", "First", "Own"}));
  EXPECT_TRUE(s->presets->back().own);
  EXPECT_FALSE(s->presets->front().own);

  session_->describe_preset(dir_ / "mine/own.json", "Renamed", "With a note");
  s = wait_for([](const Snapshot& n) { return n.presets->back().name == "Renamed"; }, "the new title");
  EXPECT_EQ(s->presets->back().note, "With a note");
  session_->describe_preset(dir_ / "presets/a.json", "Not mine", "");
  s = wait_for([](const Snapshot& n) { return !n.toasts.empty(); }, "the refusal");
  EXPECT_TRUE(toasted(*s, "ships with attnscope"));
  EXPECT_EQ(s->presets->at(1).name, "a");
  session_->delete_preset(dir_ / "mine/own.json");
  s = wait_for([](const Snapshot& n) { return n.presets->size() == 4; }, "the deletion");
  EXPECT_TRUE(std::filesystem::exists(dir_ / "mine/deleted/own.json"));
}

TEST_F(SessionTest, ABadPresetIsAToastAndChangesNothing) {
  start();
  wait_for_run(4);
  session_->load_preset(dir_.write("bad.json", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"NUM_WARP":8}})"));
  Seen s = wait_for([](const Snapshot& n) { return !n.toasts.empty(); }, "the toast");
  EXPECT_TRUE(toasted(*s, "bad.json/knobs/NUM_WARP"));
  EXPECT_EQ(s->focus.wanted.config.knobs.at("NUM_WARPS"), 4);
  EXPECT_EQ(s->preset_path, "");
  session_->dismiss_toast(s->toasts.front().id);
  wait_for([](const Snapshot& n) { return n.toasts.empty(); }, "the dismissal");
}

TEST_F(SessionTest, AFullDiskCostsOnlyThePreset) {
  start();
  wait_for_run(4);
  platform::inject_write_fault(platform::WriteFault{"mine/full.json", 0});
  session_->save_preset(dir_ / "mine/full.json", "Full", nullptr);
  Seen s = wait_for([](const Snapshot& n) { return !n.toasts.empty(); }, "the toast");
  platform::inject_write_fault(std::nullopt);
  EXPECT_TRUE(toasted(*s, "full.json"));
  focus(8);
  EXPECT_FALSE(wait_for_run(8)->focus.failure);
}

TEST_F(SessionTest, TheNextSessionContinuesWhereThisOneEnded) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  stop();
  start();
  Seen s = wait_for_run(8);
  EXPECT_FALSE(s->first_start);
}

TEST_F(SessionTest, TheNextSessionKnowsWhatEachKernelWasAskedForLast) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  Draft minimal;
  minimal.kernel = "minimal";
  minimal.device = "emulated:l4";
  session_->focus(minimal, Gesture{++gesture_, true, ""});
  const auto at_minimal = [](const Snapshot& s) { return !s.focus.running && s.focus.wanted.kernel == "minimal"; };
  Seen s = wait_for(at_minimal, "the other kernel");
  EXPECT_EQ(s->last_asked->at("tiled").config.knobs.at("NUM_WARPS"), 8);
  stop();
  start();
  s = wait_for(at_minimal, "the other kernel");
  ASSERT_TRUE(s->last_asked->contains("tiled"));
  EXPECT_EQ(s->last_asked->at("tiled").config.knobs.at("NUM_WARPS"), 8);
}

TEST_F(SessionTest, NotesAndStarsAreThereAgainAfterARestart) {
  start();
  const std::string hash = wait_for_run(4)->focus.shown->hash;
  const store::RunNote note{true, "the one for the talk"};
  session_->annotate(hash, {false, "a first word"});
  session_->annotate(hash, note);
  session_->annotate("another", {true, ""});
  session_->annotate("another", {});
  session_->annotate("third", {false, std::string(store::RunNote::kMostBytes + 1, 'x')});
  wait_for([&](const Snapshot& n) { return n.notes->contains(hash) && n.notes->at(hash) == note; }, "the note");
  stop();
  start();
  const Seen s = wait_for([](const Snapshot& n) { return n.history.size >= 1; }, "the history");
  EXPECT_THAT(*s->notes, testing::ElementsAre(testing::Pair(hash, note))) << "what was taken back is gone";
}

TEST_F(SessionTest, TheHistoryIsThereAgainAfterARestart) {
  options_.watch_configs = true;  // each run is then kept twice: with its watch, too
  const auto watched = [](const Snapshot& s) { return s.focus.watch == WatchState::done; };
  start();
  wait_for_run(4);
  wait_for(watched, "the watch");
  focus(8, "NUM_WARPS 4 \u2192 8");
  wait_for_run(8);
  wait_for(watched, "the watch");
  stop();
  start();
  const Seen s = wait_for([](const Snapshot& n) { return !n.focus.running && n.history.size >= 3; }, "the third run");
  ASSERT_EQ(s->history.size, 3u);
  const int64_t warps[] = {4, 8, 8};
  for (size_t at = 0; at < 3; ++at) {
    EXPECT_EQ(s->history.at(at).id, at + 1);
    EXPECT_EQ(s->history.at(at).observation->experiment.config.knobs.at("NUM_WARPS"), warps[at]);
    EXPECT_TRUE(s->history.at(at).observation->watch);
  }
  EXPECT_EQ(s->history.at(1).change, "NUM_WARPS 4 \u2192 8");
  EXPECT_EQ(s->focus.run, 3u);
  session_->select_history(1);
  wait_for([](const Snapshot& n) { return n.selected && n.selected->id == 1; }, "a run of the session before");
}

TEST_F(SessionTest, TheJournalIsWrittenWhileTheSessionRuns) {
  start();
  wait_for_run(4);
  focus(8);
  wait_for_run(8);
  // As after a crash: nobody calls stop() before the test reads the file.
  wait_for_file(
      [&] {
        auto journal = store::read_journal(options_.state_dir / "journal.json", *session_->snapshot()->kernels);
        return journal && *journal && (*journal)->last.config.knobs.at("NUM_WARPS") == 8;
      },
      "the journal");
}

TEST_F(SessionTest, ADamagedStoreIsSaidAndReplaced) {
  dir_.write("state/journal.json", "{{{");
  dir_.write("state/settings.json", "\xff");
  dir_.write("state/results.sqlite", std::string(4096, 'x'));
  start();
  Seen s = wait_for_run(4);
  EXPECT_TRUE(logged(*s, "journal.json.damaged-1"));
  EXPECT_TRUE(toasted(*s, "settings.json.damaged-1"));
  EXPECT_TRUE(toasted(*s, "results.sqlite.damaged-1"));
  stop();
  auto results = store::Results::open(dir_ / "state/results.sqlite");
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)->count(), 1);
}

TEST_F(SessionTest, EveryResultIsKept) {
  start();
  Seen s = wait_for_run(4);
  const std::string hash = s->focus.wanted_hash;
  session_->queue(tiled(8)).get();
  session_->queue(tiled(4, {{"BLOCK_M", 64}})).get();  // a refusal is a result, too
  stop();
  auto results = store::Results::open(dir_ / "state/results.sqlite");
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)->count(), 3);
  auto newest = (*results)->newest(hash);
  ASSERT_TRUE(newest && *newest);
  EXPECT_EQ((*newest)->observation, *s->focus.shown);
}

// While an object of this class lives, no file of this process may grow, as on a full disk.
class FullDisk {
 public:
  FullDisk() {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(SessionTest, OnAFullDiskEverythingRunsAndIsKeptOnceThereIsRoom) {
  WorkerCommand& worker = options_.workers.front();  // the full disk is another one
  worker.argv.insert(worker.argv.begin(), {"/bin/sh", "-c", "ulimit -S -f unlimited; exec \"$0\" \"$@\""});
  {
    const FullDisk full;
    start();
    Seen s = wait_for_run(4);
    EXPECT_FALSE(s->focus.failure);
    EXPECT_TRUE(toasted(*s, "Results are not being kept")) << "one message";
    EXPECT_FALSE(session_->queue(tiled(8)).get().failure);
    EXPECT_FALSE(session_->queue(tiled(2)).get().failure);
    session_->set_setting("theme", "light");
    focus(1);
    s = wait_for_run(1);
    EXPECT_FALSE(s->focus.failure);
    const auto told = std::count_if(s->toasts.begin(), s->toasts.end(), [](const Toast& toast) {
      return toast.text.find("Results are not being kept") != std::string::npos;
    });
    EXPECT_EQ(told, 1);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "state/journal.json"));
  }
  EXPECT_FALSE(session_->queue(tiled(6)).get().failure);
  focus(4);
  wait_for_run(4);
  stop();
  auto results = store::Results::open(dir_ / "state/results.sqlite");
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)->count(), 6) << "nothing of the full time is lost";
  EXPECT_TRUE(std::filesystem::exists(dir_ / "state/journal.json"));
}

TEST_F(SessionTest, SettingsOutliveTheSession) {
  start();
  session_->set_setting("theme", "light");
  wait_for([](const Snapshot& n) { return n.settings->contains("theme"); }, "the setting");
  stop();
  start();
  wait_for([](const Snapshot& n) { return n.settings->value("theme", "") == "light"; }, "the setting again");
}

TEST_F(SessionTest, WorkersAddedByHandOutliveALayoutsSave) {
  start();
  session_->set_setting("window", Json{{"zoom", 1.0}});
  const auto path = options_.state_dir / "settings.json";
  wait_for_file([&] { return std::filesystem::exists(path); }, "the settings");
  Json edited = Json::parse(read_text(path));
  edited["workers"] = Json{{"l4box", "ssh l4box attnscope worker"}};
  ASSERT_TRUE(platform::write_file(path, edited.dump()));
  session_->set_setting("window", Json{{"zoom", 1.25}});
  Seen s = wait_for([](const Snapshot& n) { return n.settings->contains("workers"); }, "the edit");
  stop();
  edited["window"]["zoom"] = 1.25;
  EXPECT_EQ(Json::parse(read_text(path)), edited);
}

TEST_F(SessionTest, WronglyEditedSettingsAreReportedAndSavedOnceRepaired) {
  start();
  session_->set_setting("theme", "dark");
  const auto path = options_.state_dir / "settings.json";
  wait_for_file([&] { return std::filesystem::exists(path); }, "the settings");
  ASSERT_TRUE(platform::write_file(path, std::string_view("{\"workers\": {")));
  session_->set_setting("theme", "light");
  Seen s = wait_for([](const Snapshot& n) { return toasted(n, "settings.json"); }, "the toast");
  EXPECT_EQ(read_text(path), "{\"workers\": {");
  ASSERT_TRUE(platform::write_file(path, std::string_view("{\"workers\": {}}")));
  stop();  // tries again
  EXPECT_EQ(Json::parse(read_text(path)), (Json{{"theme", "light"}, {"workers", Json::object()}}));
}

TEST_F(SessionTest, WithoutKernelsTheSessionSaysSo) {
  options_.kernel_dirs = {dir_ / "nowhere"};
  start();
  Seen s = wait_for([](const Snapshot& n) { return n.toasts.size() >= 2; }, "the toasts");
  EXPECT_TRUE(toasted(*s, "nowhere"));
  EXPECT_TRUE(toasted(*s, "no kernel"));
  EXPECT_TRUE(session_->queue(tiled(4)).get().failure);
}

}  // namespace
}  // namespace attnscope::session
