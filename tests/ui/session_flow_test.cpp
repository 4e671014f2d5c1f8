// Named sessions, and what a killed window leaves.
#include <nlohmann/json.hpp>

#include "store/results.h"
#include "ui/icons.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Snapshot;
using testing::HasSubstr;
using testing::Not;

class SessionFlow : public WindowFlow {
 protected:
  // A window that SIGKILL ends leaves its files as they are: what the system accepted stays. So another window over a
  // copy of the files, made in the middle, finds what the killed one left. `meanwhile` changes the copy.
  void go_on_as_after_a_kill(const std::function<void(const std::filesystem::path&)>& meanwhile = {}) {
    const std::filesystem::path left = dir_ / "left";
    std::error_code error;
    std::filesystem::copy(options_.state_dir, left, std::filesystem::copy_options::recursive, error);
    ASSERT_FALSE(error) << error.message();
    close();
    if (meanwhile) meanwhile(left);
    options_.state_dir = left;
    open();
  }
  // Two runs, the first of them pinned as A, starred and with a note, and a panel closed.
  bool work(ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return false;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return false;
    ctx->ItemClick("//History/runs/$$1/###run", ImGuiMouseButton_Right);
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Pin as A");
    ctx->Yield(2);
    session_->annotate(now()->history.at(0).observation->hash, {true, "for the talk"});
    ctx->SetRef("##MainMenuBar");
    ctx->MenuClick("View/Counters");
    ctx->SetRef("");
    return wait(
        ctx,
        [&](const Snapshot& s) {
          const auto kept = s.settings->find(kSettingsKey);
          return s.notes->size() == 1 && kept != s.settings->end() && (*kept)["pinned"].is_object() &&
                 (*kept)["closed"].size() == 1;
        },
        "what is kept");
  }
  void save_as(ImGuiTestContext* ctx, const char* title) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_O);
    ctx->Yield(4);
    ctx->ItemInput("//Sessions/##title");
    ctx->KeyCharsReplace(title);
    ctx->ItemClick("//Sessions/###save");
    wait(
        ctx,
        [&](const Snapshot& s) {
          return std::ranges::any_of(*s.sessions, [&](const session::SavedSession& one) { return one.title == title; });
        },
        "the saved session");
  }
};

TEST_F(SessionFlow, AKilledWindowsNotesStarsBaselineAndLayoutAreThereAgain) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!work(ctx)) return;
    // The settings' file follows the snapshot by half a second.
    wait(
        ctx,
        [&](const Snapshot&) {
          const std::string kept = testing_support::read_text(options_.state_dir / "settings.json");
          const Json json = Json::parse(kept, nullptr, false);
          return json.is_object() && json.contains(kSettingsKey) && json[kSettingsKey]["pinned"].is_object() &&
                 json[kSettingsKey]["closed"].size() == 1;
        },
        "the settings' file");
  });
  go_on_as_after_a_kill();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    EXPECT_GE(now()->history.size, 2U);
    ASSERT_EQ(now()->notes->size(), 1U);
    EXPECT_EQ(now()->notes->begin()->second, (store::RunNote{true, "for the talk"}));
    EXPECT_TRUE(bench_->baseline().pinned);
    EXPECT_EQ(bench_->baseline().run(), 1U);
    EXPECT_TRUE(bench_->settings().closed.contains("Counters"));
  });
}

TEST_F(SessionFlow, ASessionIsSavedFoundOpenedDeletedAndTakenBack) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!work(ctx)) return;
    save_as(ctx, "Warps");
    ctx->ItemInput("//Sessions/##search");
    ctx->KeyCharsReplace("nothing of that name");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("No match."));
    ctx->ItemInput("//Sessions/##search");
    ctx->KeyCharsReplace("WARP");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("No match.")));
    ctx->PopupCloseAll();
    ctx->Yield(4);
    // A different state: a third run, A unpinned, the panel open.
    ctx->ItemClick("//Experiment/NUM_WARPS/4");
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    bench_->settings().pinned.reset();
    bench_->open_panel("Counters");
    ctx->Yield(4);
  });
  const std::string path = now()->sessions->front().path;
  session_->open_session(path);
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->Yield(12);
    EXPECT_EQ(now()->opened.title, "Warps");
    EXPECT_EQ(now()->opened.runs->size(), 2U);
    EXPECT_TRUE(bench_->baseline().pinned);
    EXPECT_TRUE(bench_->settings().closed.contains("Counters"));
    bench_->open_panel("History");
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Session Warps"));
    EXPECT_FALSE(ctx->ItemExists("//History/runs/$$3/###run")) << "it ran in between";
    session_->close_session();
    wait(
        ctx, [](const Snapshot& s) { return s.opened.title.empty(); }, "all runs");
    ctx->Yield(4);
    EXPECT_TRUE(ctx->ItemExists("//History/runs/$$3/###run"));
    session_->delete_session(path);
    if (!wait(
            ctx, [](const Snapshot& s) { return s.sessions->empty() && s.deleted_sessions->size() == 1; }, "the bin"))
      return;
    session_->restore_session(now()->deleted_sessions->front().path);
    wait(
        ctx, [](const Snapshot& s) { return s.sessions->size() == 1 && s.deleted_sessions->empty(); }, "it again");
  });
}

TEST_F(SessionFlow, ASessionBringsItsRunsIntoAWindowThatHasForgottenThem) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!work(ctx)) return;
    save_as(ctx, "Warps");
    ctx->PopupCloseAll();
  });
  // A window shows the last 500 runs of the file.
  Observation other = *now()->history.at(0).observation;
  other.experiment.problem.batch += 1;
  other.hash = hash_of(other.experiment);
  go_on_as_after_a_kill([&](const std::filesystem::path& left) {
    auto results = store::Results::open(left / "results.sqlite");
    ASSERT_TRUE(results) << results.error().message;
    for (int at = 0; at < 500; ++at) ASSERT_TRUE((*results)->append(other, 2e9 + at));
  });
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ASSERT_EQ(now()->sessions->size(), 1U);
    for (size_t at = 0; at < 500; ++at) ASSERT_EQ(now()->history.at(at).observation->hash, other.hash);
    session_->open_session(now()->sessions->front().path);
    wait(
        ctx, [](const Snapshot& s) { return s.opened.runs->size() == 2; }, "its runs");
    for (const uint64_t run : *now()->opened.runs) EXPECT_NE(now()->history.at(run - 1).observation->hash, other.hash);
  });
}

TEST_F(SessionFlow, RunsAreFoundByWordsAndStars) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!work(ctx)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_F);
    ctx->Yield(12);
    ctx->ItemInput("//History/##find");
    ctx->KeyCharsReplace("FOR THE TALK");
    ctx->Yield(4);
    EXPECT_TRUE(ctx->ItemExists("//History/runs/$$1/###run"));
    EXPECT_FALSE(ctx->ItemExists("//History/runs/$$2/###run"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("1 of 2 runs"));
    ctx->ItemClick("//History/###close find");
    ctx->Yield(4);
    EXPECT_TRUE(ctx->ItemExists("//History/runs/$$2/###run"));
  });
}

}  // namespace
}  // namespace attnscope::ui
