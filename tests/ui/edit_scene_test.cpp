// The source's editor at every reference size and theme: as opened, with an error, and with the change beside it. Made
// only when ATTNSCOPE_SCENES names a folder for the pictures.
#include <fmt/format.h>

#include "ui/scene.h"

namespace attnscope::ui {
namespace {

TEST_F(Scene, TheEditor) {
  open({1600, 900});
  bool first = true;
  for (const ShotSize size : {ShotSize{1280, 720}, ShotSize{1600, 900}, ShotSize{2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light}) {
      const std::string name = fmt::format("edit_{}{}", size.width, theme == ThemeMode::light ? "_light" : "");
      close_window();
      open_window(size);
      bench_->ignore_kept_settings();
      bench_->settings().theme = theme;
      flow([&](ImGuiTestContext* ctx) {
        ctx->Yield(12);
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
        const auto settled = [](const session::Snapshot& n) {
          return n.focus.wanted.kernel == "tiled_copy" && !n.focus.running;
        };
        if (!wait(ctx, settled, "the copy's run")) return;
        ctx->Yield(12);
      });
      picture(name);
      flow([&](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);  // a flow starts without the keyboard's focus
        ctx->Yield(12);
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
        ctx->KeyPress(ImGuiKey_DownArrow, 3);
        ctx->KeyChars(first ? "  float x = undeclared;\n" : " ");
        first = false;
        wait(
            ctx, [](const session::Snapshot& n) { return n.focus.failure.has_value(); }, "the refusal");
        ctx->Yield(8);
      });
      picture(name + "_error");
      flow([&](ImGuiTestContext* ctx) { ctx->ItemClick("//Source/Edits"); });
      picture(name + "_edits");
    }
}

}  // namespace
}  // namespace attnscope::ui
