// Workers in the window: added by host or command, their devices and what those report, lost links, removal.
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/joined.h"
#include "store/workers.h"
#include "ui/window_flow.h"
#include "ui/worker_words.h"

namespace attnscope::ui {
namespace {

using session::LinkTrouble;
using session::Snapshot;
using session::WorkerState;
using session::WorkerStatus;
using testing::HasSubstr;
using testing::Not;

class WorkersFlow : public WindowFlow {
 protected:
  // A program that stands for ssh: it says goodbye as ssh does until the file "up" exists, then runs the rest.
  std::string far_command(const std::vector<std::string>& behaviour = {}) {
    const std::string ssh = dir_.write("ssh", "#!/bin/sh\nshift\n[ -e '" + (dir_ / "up").string() +
                                                  "' ] && exec \"$@\"\n"
                                                  "echo 'ssh: Could not resolve hostname l4box' >&2; exit 255\n");
    std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
    std::vector<std::string> argv = options_.workers.front().argv;
    argv.insert(argv.begin(), {ssh, "l4box"});
    argv.insert(argv.end(), behaviour.begin(), behaviour.end());
    return store::command_text(argv);
  }
  static const WorkerStatus* find(const Snapshot& s, const std::string& name) {
    const auto found = std::ranges::find(s.workers, name, &WorkerStatus::name);
    return found == s.workers.end() ? nullptr : &*found;
  }
  // Of an item out of sight the test engine knows no label.
  void scroll_to(ImGuiTestContext* ctx, const char* item) {
    const ImGuiID list = ctx->WindowInfo("//Workers/workers").ID;
    const float end = ctx->GetWindowByRef(list)->ScrollMax.y;
    for (float y = 0; y <= end + 60 && !ctx->ItemExists(item); y += 60) ctx->ScrollToY(list, y);
  }

  void open_dialog(ImGuiTestContext* ctx) {
    ctx->Yield(12);
    ctx->MenuClick("//##MainMenuBar/Run/Workers\u2026");
    ctx->Yield(4);
  }
  static void type(ImGuiTestContext* ctx, const char* field, const std::string& words) {
    ctx->ItemInput(field);
    ctx->KeyCharsReplace(words.c_str());
    ctx->Yield(2);
  }
  bool wait_for_state(ImGuiTestContext* ctx, const std::string& name, WorkerState state) {
    return wait(
        ctx,
        [&](const Snapshot& s) {
          const WorkerStatus* worker = find(s, name);
          return worker != nullptr && worker->state == state;
        },
        "the worker's state");
  }
};

TEST_F(WorkersFlow, OneIsAddedUsedAndRemoved) {
  dir_.write("up", "");
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    open_dialog(ctx);
    type(ctx, "//Workers/##where", far_command({"--reads"}));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Starts l4box: "));
    ctx->ItemClick("//Workers/Add");
    if (!wait(
            ctx, [&](const Snapshot& s) { return find(s, "l4box") != nullptr && find(s, "l4box")->round_trip_ms; },
            "the round trip"))
      return;
    if (!wait(
            ctx, [&](const Snapshot& s) { return !find(s, "l4box")->gpus.empty(); }, "a reading"))
      return;
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("there and back"));
    EXPECT_THAT(words, HasSubstr("l4box/cuda:0"));
    EXPECT_THAT(words, HasSubstr("2,040 MHz, 54 \u00b0C, 31 of 72 W, power cap"));
    EXPECT_EQ(now()->settings->at("workers").size(), 1u) << "also at the next start";
    ctx->ScrollToBottom(ctx->WindowInfo("//Workers/workers").ID);
    ctx->ItemClick("//Workers/**/###l4box emulated:l4");
    ctx->KeyPress(ImGuiKey_Escape);
    if (!wait(
            ctx, [](const Snapshot& s) { return s.focus.wanted.device == "l4box/emulated:l4" && !s.focus.running; },
            "the run there"))
      return;
    EXPECT_FALSE(now()->focus.failure);
    open_dialog(ctx);
    scroll_to(ctx, "//Workers/**/l4box/Remove");
    ctx->ItemClick("//Workers/**/l4box/Remove");
    wait(
        ctx, [&](const Snapshot& s) { return find(s, "l4box") == nullptr; }, "the removal");
    EXPECT_EQ(session::find_device(*now(), "l4box/emulated:l4"), nullptr);
    EXPECT_TRUE(now()->settings->at("workers").empty());
  });
}

TEST_F(WorkersFlow, ALostLinkSaysWhyAndWhatHelps) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    open_dialog(ctx);
    type(ctx, "//Workers/##where", far_command());
    type(ctx, "//Workers/##name", "far");
    ctx->ItemClick("//Workers/also at the next start");
    ctx->ItemClick("//Workers/Add");
    if (!wait_for_state(ctx, "far", WorkerState::lost)) return;
    EXPECT_EQ(find(*now(), "far")->trouble, LinkTrouble::unreachable);
    EXPECT_FALSE(now()->settings->contains("workers"));
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("Could not resolve hostname l4box"));
    EXPECT_THAT(words, HasSubstr("in a terminal, must end without a question"));
    dir_.write("up", "");
    scroll_to(ctx, "//Workers/**/far/Try again");
    ctx->ItemClick("//Workers/**/far/Try again");
    if (!wait_for_state(ctx, "far", WorkerState::ready)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("far/emulated:l4"));
  });
}

TEST_F(WorkersFlow, WhatCannotBeAddedSaysWhy) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/##device");
    ctx->ItemClick("//$FOCUSED/###workers");
    ctx->Yield(4);
    const auto refused = [&](const std::string& where, const char* why) {
      type(ctx, "//Workers/##where", where);
      EXPECT_THAT(drawn_words(ctx), HasSubstr(why));
      EXPECT_NE(ctx->ItemInfo("//Workers/Add").ItemFlags & ImGuiItemFlags_Disabled, 0);
    };
    refused("", "Its devices appear when it has answered.");
    refused("-oProxyCommand=date", "is not a machine's name");
    refused("ssh 'l4box", "open quote");
    type(ctx, "//Workers/##name", "local");
    refused("l4box", "is not \"local\"");
    type(ctx, "//Workers/##name", "");
    type(ctx, "//Workers/##where", "me@l4box");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Starts l4box: ssh me@l4box attnscope worker"));
    type(ctx, "//Workers/##where", "/no/such/program worker");
    ctx->ItemClick("//Workers/Add");
    if (!wait_for_state(ctx, "program", WorkerState::lost)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("The program is not on this machine"));
    refused("/no/such/program worker", "There is already a worker program");
  });
}

TEST(WorkerWords, EachTroubleHasAnAdvice) {
  WorkerStatus far;
  far.command = {"/usr/bin/ssh", "-p", "22", "l4box", "attnscope", "worker"};
  EXPECT_EQ(advice_on(far), "");
  const auto advice = [&](LinkTrouble trouble) {
    far.trouble = trouble;
    return advice_on(far);
  };
  EXPECT_THAT(advice(LinkTrouble::unreachable), HasSubstr("`/usr/bin/ssh -p 22 l4box true`"));
  EXPECT_THAT(advice(LinkTrouble::no_worker), HasSubstr("l4box PATH/bin/attnscope worker`"));
  EXPECT_THAT(advice(LinkTrouble::no_program), HasSubstr("PATH"));
  EXPECT_THAT(advice(LinkTrouble::other_version), HasSubstr("the same attnscope"));
  EXPECT_THAT(advice(LinkTrouble::silent), HasSubstr("network"));
  EXPECT_THAT(advice(LinkTrouble::ended), HasSubstr("Log"));
  far.command = {"srun", "attnscope", "worker"};
  EXPECT_THAT(advice(LinkTrouble::unreachable), Not(HasSubstr("ssh")));
  EXPECT_THAT(advice(LinkTrouble::no_worker), Not(HasSubstr("ssh")));
}

TEST(WorkerWords, AReadingLeavesOutWhatItLacks) {
  EXPECT_EQ(words_of(GpuReading()), "");
  EXPECT_EQ(words_of(GpuReading{"cuda:0", 2040, 31, 0, 0, {}}), "2,040 MHz, 31 W");
}

}  // namespace
}  // namespace attnscope::ui
