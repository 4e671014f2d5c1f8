// Editing a kernel's source in place: on a copy, which runs whenever the typing pauses.
#include <imgui_internal.h>

#include "platform/atomic_file.h"
#include "ui/panels/source_panel.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Snapshot;
using testing::HasSubstr;
using testing::Not;
using testing_support::read_text;

class EditFlow : public WindowFlow {
 protected:
  ~EditFlow() override { platform::inject_write_fault(std::nullopt); }
  std::filesystem::path file() const { return dir_ / "own/tiled_copy.cu"; }

  bool start_editing(ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return false;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
    const auto copied = [](const Snapshot& n) { return n.focus.wanted.kernel == "tiled_copy"; };
    return wait(ctx, copied, "the copy") && wait_for_its_run(ctx);
  }
  // The run of the edited file has ended.
  bool wait_for_its_run(ImGuiTestContext* ctx) {
    const auto ran = [&](const Snapshot& n) {
      const Kernel* copy = session::find_kernel(n, "tiled_copy");
      return copy != nullptr && copy->source == read_text(file()) && !n.focus.running && n.focus.shown &&
             n.focus.wanted.kernel_hash == copy->content_hash && n.focus.shown->hash == n.focus.wanted_hash;
    };
    return wait(ctx, ran, "the run of what the file holds");
  }
  // At the beginning of the text.
  void type(ImGuiTestContext* ctx, const char* words) {
    ctx->Yield(4);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
    ctx->KeyChars(words);
  }
  bool wait_for_file(ImGuiTestContext* ctx, const std::string& words) {
    return wait(
        ctx, [&](const Snapshot&) { return read_text(file()).starts_with(words); }, words.c_str());
  }
};

TEST_F(EditFlow, OneKeyMakesACopyAndTypingRunsIt) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!start_editing(ctx)) return;
    const std::string shipped = session::find_kernel(*now(), "tiled")->source;
    EXPECT_EQ(now()->focus.wanted.config.knobs.at("NUM_WARPS"), 4);
    EXPECT_EQ(bench_->baseline().run(), 1u) << "A is the run of what was copied";
    type(ctx, "// mine ");
    if (!wait_for_file(ctx, "// mine //") || !wait_for_its_run(ctx)) return;
    EXPECT_EQ(now()->focus.change, "tiled_copy.cu edited");
    EXPECT_EQ(session::find_kernel(*now(), "tiled")->source, shipped);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Edits run by themselves. They are in "));

    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z, 8);  // moves in the text, by letter or by word
    if (!wait_for_file(ctx, shipped.substr(0, 20)) || !wait_for_its_run(ctx)) return;
    EXPECT_EQ(now()->focus.wanted.kernel, "tiled_copy") << "the knobs' undo is not meant";

    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Edits run by themselves")));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Edits")) << "what was changed can be seen";
  });
}

TEST_F(EditFlow, LettersAndKeysOfTheWindowStayInTheText) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!start_editing(ctx)) return;
    const auto theme = bench_->settings().theme;
    type(ctx, "// 1 r b t\n");
    if (!wait_for_file(ctx, "// 1 r b t\n")) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);  // the text does not use it
    ctx->Yield(2);
    EXPECT_NE(bench_->settings().theme, theme);
  });
}

TEST_F(EditFlow, AnErrorStandsAtItsLineUntilItIsMended) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!start_editing(ctx)) return;
    type(ctx, "\nundeclared\n");
    if (!wait(
            ctx, [](const Snapshot& n) { return n.focus.failure.has_value(); }, "the compiler's refusal"))
      return;
    EXPECT_EQ(now()->focus.failure->stage, Stage::compile);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("line 2: identifier \"undeclared\" is undefined"));
    EXPECT_NE(bench_->baseline().run(), 0u) << "the last good run stays beside it";
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_End);
    ctx->KeyPress(ImGuiKey_Delete);
    if (!wait(
            ctx, [](const Snapshot& n) { return !n.focus.failure && !n.focus.running; }, "the mended run"))
      return;
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("is undefined")));
  });
}

TEST_F(EditFlow, RevertAsksAndBringsTheOriginalBack) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!start_editing(ctx)) return;
    const std::string shipped = session::find_kernel(*now(), "tiled")->source;
    type(ctx, "// mine\n");
    if (!wait_for_file(ctx, "// mine\n") || !wait_for_its_run(ctx)) return;
    ctx->ItemClick("//Source/Edits");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Source, since it was copied: 0 removed, 1 added"));
    ctx->ItemClick("//Source/Revert\u2026");
    ctx->Yield(2);
    ctx->ItemClick("//Revert the copy/Revert");
    if (!wait(
            ctx, [&](const Snapshot&) { return read_text(file()) == shipped; }, "the original text"))
      return;
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Source, since it was copied: 0 removed, 0 added"));
  });
}

TEST_F(EditFlow, AnotherProgramsTextIsToldAndNotOverwritten) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!start_editing(ctx)) return;
    const std::string theirs = "// theirs\n" + read_text(file());
    ctx->Yield(4);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
    ASSERT_TRUE(platform::write_file(file(), theirs));
    ctx->KeyChars("// mine\n");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
    if (!wait(
            ctx, [](const Snapshot& n) { return n.saved.changed.has_value(); }, "the conflict"))
      return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Another program changed the file while you typed."));
    EXPECT_EQ(read_text(file()), theirs);
    ctx->ItemClick("//Source/Keep mine");
    if (!wait_for_file(ctx, "// mine\n")) return;
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Another program")));
  });
}

TEST_F(EditFlow, AFullDiskIsSaidAndTheTextStays) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!start_editing(ctx)) return;
    platform::inject_write_fault(platform::WriteFault{"tiled_copy.cu", 4});
    type(ctx, "// mine\n");
    if (!wait(
            ctx, [](const Snapshot& n) { return n.saved.failure.has_value(); }, "the refusal"))
      return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Not saved: "));
    const uint64_t first = now()->saved.id;
    ctx->ItemClick("//Source/Done");
    if (!wait(
            ctx, [&](const Snapshot& n) { return n.saved.id != first && n.saved.failure; }, "the second refusal"))
      return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Not saved: ")) << "the editor stays open";
    platform::inject_write_fault(std::nullopt);
    ctx->ItemClick("//Source/Try again");
    wait_for_file(ctx, "// mine\n");
  });
}

TEST_F(EditFlow, AKernelWithoutASourceSaysWhy) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    EXPECT_EQ(bench_->actions().find("edit source")->refusal(), "");
    EXPECT_EQ(bench_->actions().find("leave source")->refusal(), "No source is being edited.");
    const Kernel* routine = session::find_kernel(*now(), "cublas_tile");
    ASSERT_NE(routine, nullptr);
    EXPECT_THAT(why_not_edited(routine), HasSubstr("has no source"));
    Kernel cubin = *session::find_kernel(*now(), "tiled");
    cubin.source = "\177ELF...";
    EXPECT_THAT(why_not_edited(&cubin), HasSubstr("machine code"));
  });
}

TEST(SourceMarks, EveryErrorOfTheLogIsAtItsLine) {
  const SourceLines source("a.cu", "one\ntwo\nthree\n");
  const Failure failure{
      Stage::compile, "a.cu:1: expected a \";\"",
      "a.cu(1): error: expected a \";\"\n    one\n       ^\n\na.cu(3): error: too few\nx.h(2): error: no\n"};
  const auto marks = source_marks({}, &failure, source);
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].line, 1);
  EXPECT_EQ(marks[0].words, "a.cu:1: expected a \";\"") << "once";
  EXPECT_EQ(marks[1].line, 3);
  EXPECT_EQ(marks[1].words, "too few");
}

}  // namespace
}  // namespace attnscope::ui
