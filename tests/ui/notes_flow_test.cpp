// Stars and notes in the history.
#include "ui/icons.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class NotesFlow : public WindowFlow {};

TEST_F(NotesFlow, AStarAndANoteAreThereAgainAfterARestart) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//History/runs/$$1/###run", ImGuiMouseButton_Right);
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Star it");
    wait(
        ctx, [](const session::Snapshot& s) { return s.notes->size() == 1 && s.notes->begin()->second.starred; },
        "the star");
    ctx->ItemClick("//History/runs/$$1/###run", ImGuiMouseButton_Right);
    ctx->Yield(2);
    ctx->ItemInput("//$FOCUSED/##note");
    ctx->KeyCharsReplaceEnter("for the talk");
    wait(
        ctx, [](const session::Snapshot& s) { return s.notes->begin()->second.text == "for the talk"; }, "the note");
    ctx->PopupCloseAll();
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr(ICON_STAR " for the talk"));
  });
  close();
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr(ICON_STAR " for the talk"));
    ctx->ItemClick("//History/runs/$$1/###run", ImGuiMouseButton_Right);
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Take the star off");
    wait(
        ctx, [](const session::Snapshot& s) { return !s.notes->begin()->second.starred; }, "the star's end");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("for the talk"));
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr(ICON_STAR)));
  });
}

TEST_F(NotesFlow, ANoteIsKeptHoweverItsTypingEnds) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const auto type = [&](const char* words) {
      ctx->ItemClick("//History/runs/$$1/###run", ImGuiMouseButton_Right);
      ctx->Yield(2);
      ctx->ItemInput("//$FOCUSED/##note");
      ctx->KeyCharsReplace(words);
      ctx->Yield(3);
    };
    const auto kept = [&](const std::string& words, bool starred) {
      return wait(
          ctx,
          [&](const session::Snapshot& s) {
            return s.notes->size() == 1 && s.notes->begin()->second == store::RunNote{starred, words};
          },
          words.c_str());
    };
    // The menu goes without a last frame, as where its row scrolls away.
    type("menu gone");
    ctx->PopupCloseAll();
    if (!kept("menu gone", false)) return;
    type("clicked elsewhere");
    const ImRect row = ctx->ItemInfo("//History/runs/$$1/###run").RectFull;
    ctx->MouseTeleportToPos({row.Min.x + 2, row.GetCenter().y});
    ctx->MouseClick();
    ctx->Yield(3);
    ctx->PopupCloseAll();
    if (!kept("clicked elsewhere", false)) return;
    type("starred at once");
    ctx->ItemClick("//$FOCUSED/Star it");
    kept("starred at once", true);
  });
}

}  // namespace
}  // namespace attnscope::ui
