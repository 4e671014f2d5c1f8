#include "ui/widgets/clipboard.h"

#include <gtest/gtest.h>
#include <imgui.h>

namespace attnscope::ui {
namespace {

TEST(Clipboard, WhatIsCopiedOrdersATerminalNothing) {
  ImGuiContext* context = ImGui::CreateContext();
  copy(
      "a\x1b[2J\tb\r\nc\xe2\x80\xae"
      "d\r");
  EXPECT_STREQ(ImGui::GetClipboardText(), "a\uFFFD[2J\tb\nc\uFFFDd\uFFFD");
  ImGui::DestroyContext(context);
}

}  // namespace
}  // namespace attnscope::ui
