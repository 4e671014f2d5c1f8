#include <algorithm>

#include "charts/format.h"
#include "charts/tables.h"
#include "ui/export_menu.h"
#include "ui/hardware_part.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

// Of a group's columns: as wide as their words where these leave something for the notes, else shares.
struct Widths {
  bool fit = false;
  float name = 1.3f, value = 1.1f;
};

Widths widths_of(const charts::FigureGroup& group, bool against, float room) {
  Widths words{true, 0, 0};
  for (const charts::FigureRow& row : group.rows) {
    words.name = std::max(words.name, width_of(row.name) + 1);
    words.value = std::max({words.value, width_of(row.value) + em(0.6f), width_of(row.baseline) + em(0.6f)});
  }
  return words.name + (against ? 2 : 1) * words.value + em(3) < room ? words : Widths{};
}

void draw_group(Context& context, const charts::FigureGroup& group, bool bars) {
  // The panel's badge says "counted".
  const bool modelled = std::ranges::any_of(
      group.rows, [](const charts::FigureRow& row) { return row.kind == FigureKind::modelled && !row.value.empty(); });
  section((group.title + (modelled ? ", times modelled" : "")).c_str());
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  const bool against = !group.rows.empty() && !group.rows.front().baseline.empty();
  if (ImGui::BeginTable(group.title.c_str(), against ? 4 : 3,
                        ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    const Widths widths = widths_of(group, against, ImGui::GetContentRegionAvail().x);
    const ImGuiTableColumnFlags kind =
        widths.fit ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch;
    ImGui::TableSetupColumn("name", kind, widths.name);
    ImGui::TableSetupColumn("value", kind, widths.value);
    if (against) ImGui::TableSetupColumn("A", kind, widths.value);
    ImGui::TableSetupColumn("note", ImGuiTableColumnFlags_WidthStretch, 1.0f);
    const auto right = [](const std::string& words, ImU32 colour) {
      const float room = ImGui::GetContentRegionAvail().x;
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - width_of(words) - em(0.5f)));
      clipped(words, room, colour);
    };
    if (against) {
      ImGui::TableNextRow();
      ImGui::TableSetColumnIndex(1);
      right("B", palette().faint);
      ImGui::TableSetColumnIndex(2);
      right("A", palette().faint);
    }
    double largest = 0.01;
    for (const charts::FigureRow& row : group.rows) largest = std::max(largest, row.share);
    for (const charts::FigureRow& row : group.rows) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      term(context.glossary, row.term, shortened(row.name, ImGui::GetContentRegionAvail().x));
      ImGui::TableNextColumn();
      right(row.value, palette().text);
      if (against) {
        ImGui::TableNextColumn();
        right(row.baseline, row.baseline == row.value ? palette().faint : palette().dim);
      }
      ImGui::TableNextColumn();
      if (bars && row.share > 0) {
        const ImVec2 pen = ImGui::GetCursorScreenPos();
        const float share = f32(row.share / largest);
        ImGui::GetWindowDrawList()->AddRectFilled(
            pen, {pen.x + ImGui::GetContentRegionAvail().x * share, pen.y + ImGui::GetFontSize() + 1},
            with_alpha(palette().counted, 0.22f), em(0.1f));
      }
      clipped(row.note, ImGui::GetContentRegionAvail().x, palette().dim);
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

// The emulator's counts: instructions by class, lanes, shared and global memory; exact, or from a sample of the CTAs.
class CountersPanel : public Panel {
 public:
  const char* title() const override { return "Counters"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
};

}  // namespace

void CountersPanel::draw(Context& context) {
  const Counters* counters = context.shown.counters();
  const bool hardware = has_hardware_counters(context);
  if (counters == nullptr && hardware) {
    ghost_note(context);
    draw_hardware(context);
  }
  if (counters == nullptr)
    return empty_state(ICON_TABLE, "Nothing counted yet",
                       "The emulator counts every instruction, wavefront and sector. A kernel that runs on a GPU is "
                       "counted by a watch.");
  kind_badge(context.glossary, counters->kind);
  ImGui::SameLine(0, em(0.6f));
  small_text(charts::counter_share_text(*counters),
             counters->emulated_ctas < counters->total_ctas ? palette().warn : palette().dim);
  ImGui::SameLine(0, em(1));
  part_note(context, session::Part::counters, context.shown.config_text);
  ghost_note(context);
  const PartScope scope(context, session::Part::counters);
  const Observation* ghost = context.baseline.ghost;
  std::vector<charts::FigureGroup> groups =
      charts::counter_groups(*counters, ghost != nullptr && ghost->counters ? &*ghost->counters : nullptr);
  if (context.shown.observation)
    for (charts::FigureGroup& one : charts::launch_groups(*context.shown.observation, ghost))
      groups.push_back(std::move(one));
  export_menu(context, {"counters", {}, [&] { return charts::sheet_of(groups); }});
  const float width = ImGui::GetContentRegionAvail().x;
  // A's figures need room beside B's, so that neither is cut.
  const float least = groups.front().rows.empty() || groups.front().rows.front().baseline.empty() ? em(18) : em(27);
  const int columns = width > 3.2f * least ? 3 : width > 2 * least ? 2 : 1;
  // Instructions take one column; the short groups share the others.
  if (ImGui::BeginTable("##groups", columns, ImGuiTableFlags_SizingStretchSame | ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableNextColumn();
    draw_group(context, groups.front(), true);
    for (size_t at = 1; at < groups.size(); ++at) {
      if (columns > 1 && (at == 1 || (columns == 3 && at == 3))) ImGui::TableNextColumn();
      draw_group(context, groups[at], false);
    }
    ImGui::EndTable();
  }
  if (hardware) draw_hardware(context);
}

std::unique_ptr<Panel> make_counters_panel(const std::filesystem::path&) { return std::make_unique<CountersPanel>(); }

}  // namespace attnscope::ui
