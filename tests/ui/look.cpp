#include "ui/look.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/temp_dir.h"

namespace attnscope::ui {

Drawing drawn_in(ImVec2 size, const std::function<void()>& draw, std::optional<ImVec2> pointer) {
  constexpr ImVec2 kCorner{10, 10};
  const auto screen = Offscreen::create({800, 600}, ATTNSCOPE_SOURCE_DIR);
  if (!screen) {
    ADD_FAILURE() << screen.error().message;
    return {};
  }
  ImGuiStyle& style = ImGui::GetStyle();
  style.HoverStationaryDelay = style.HoverDelayShort = style.HoverDelayNormal = 0;
  for (int frame = 0; frame < 5; ++frame) {
    if (pointer) ImGui::GetIO().AddMousePosEvent(kCorner.x + pointer->x, kCorner.y + pointer->y);
    (*screen)->begin_frame();
    ImGui::SetNextWindowPos(kCorner);
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("test", nullptr, ImGuiWindowFlags_NoTitleBar);
    draw();
    ImGui::End();
    (*screen)->end_frame(false);
  }
  return last_frame();
}

void Look::open(session::Snapshot snapshot, ShotSize size, ThemeMode theme, float zoom) {
  session_ = std::make_unique<StillSession>(std::move(snapshot));
  open_window(size);
  ImGui::GetIO().ConfigInputTextCursorBlink = false;
  bench_->ignore_kept_settings();
  bench_->settings().theme = theme;
  bench_->settings().zoom = zoom;
  flow([&](ImGuiTestContext* ctx) { ctx->Yield(20); });
}

Drawing Look::drawn_after(const std::function<void(ImGuiTestContext*)>& steps) {
  flow([&](ImGuiTestContext* ctx) {
    steps(ctx);
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ctx->MouseTeleportToPos({size.x / 2, size.y - 5});
    ctx->Yield(6);
  });
  return last_frame();
}

void Look::expect_as_recorded(const std::string& name, Drawing drawn) {
  const std::filesystem::path file = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/look" / (name + ".txt");
  std::erase_if(drawn["##status"],
                [](const std::string& line) { return line.find("frame ") != std::string::npos; });  // the frame's time
  if (std::getenv("ATTNSCOPE_WRITE_LOOK") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << as_text(drawn);
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(file)) << "no recording: " << file;
  const Drawing recorded = drawing_from(testing_support::read_text(file));
  std::set<std::string> parts;
  for (const auto& [part, lines] : drawn) parts.insert(part);
  for (const auto& [part, lines] : recorded) parts.insert(part);
  for (const std::string& part : parts) {
    const auto lines_of = [&](const Drawing& drawing) {
      const auto found = drawing.find(part);
      return found == drawing.end() ? std::set<std::string>() : found->second;
    };
    const std::set<std::string> now = lines_of(drawn), before = lines_of(recorded);
    std::string difference;
    for (const std::string& line : before)
      if (!now.contains(line)) difference += "\n  recorded: " + line;
    for (const std::string& line : now)
      if (!before.contains(line)) difference += "\n  drawn:    " + line;
    if (!difference.empty())
      ADD_FAILURE() << part << " of " << file.filename().string() << " looks different:" << difference
                    << "\nIf that is intended, look at the window with `attnscope shot`, and write the recordings "
                       "again: ATTNSCOPE_WRITE_LOOK=1 ui_tests --gtest_filter='Look.*'";
  }
}

}  // namespace attnscope::ui
