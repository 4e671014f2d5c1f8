#include <fmt/format.h>

#include "charts/format.h"
#include "charts/memory_stack.h"
#include "charts/words.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/memory_gauge.h"
#include "ui/widgets/part.h"
#include "ui/widgets/stat.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

using session::Part;

namespace {

constexpr float kLowPanel = 26;  // ems: a lower panel does not have room for everything

std::string compile_text(double ms) {
  return ms < 1000 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.2f} s", ms / 1000);
}

// Shared memory by buffer with the limits, occupancy with its limiter, waves and tail, registers and spills.
class MemoryPanel : public Panel {
 public:
  const char* title() const override { return "Shared memory"; }
  Dock dock() const override { return Dock::memory; }
  void draw(Context& context) override;

 private:
  static void draw_gauge(Context& context, const VariantInfo& variant, const DeviceSpec& spec);
  static void draw_buffers(Context& context, const VariantInfo& variant, const DeviceSpec& spec);
  void draw_occupancy(Context& context, const VariantInfo* variant, const Occupancy& occupancy, const DeviceSpec& spec);
};

}  // namespace

void MemoryPanel::draw(Context& context) {
  progress_line(context);
  failure_view(context, Readout::memory);
  const VariantInfo* variant = context.shown.variant();
  if (variant == nullptr) {
    empty_state(ICON_CHIP, context.shown.running() ? "Compiling" : "Nothing compiled yet",
                "A CTA's shared memory, buffer by buffer, against the device's limits.");
    return;
  }
  const std::string& device = context.shown.observation->device.empty() ? context.shown.observation->experiment.device
                                                                        : context.shown.observation->device;
  const DeviceSpec* found = session::find_device(context.snapshot, device);
  const DeviceSpec spec = found != nullptr ? *found : DeviceSpec{};
  // The figure, the gauge and the occupancy matter most, so they come first if not everything fits.
  const bool low = ImGui::GetContentRegionAvail().y < em(kLowPanel);
  export_menu(context, {"shared-memory", [&] {
                          return charts::figure_of(charts::memory_stack(*variant, context.shown.occupancy(), spec));
                        }});
  if (const std::string whose = charts::longest_launch_words(*context.shown.observation); !whose.empty())
    wrapped("Of " + whose + ".", palette().dim, kSmallSize);
  draw_gauge(context, *variant, spec);
  if (!low) draw_buffers(context, *variant, spec);
  if (const Occupancy* occupancy = context.shown.occupancy()) draw_occupancy(context, variant, *occupancy, spec);
  if (!low) return;
  ImGui::Dummy({0, em(0.3f)});
  draw_buffers(context, *variant, spec);
}

void MemoryPanel::draw_gauge(Context& context, const VariantInfo& variant, const DeviceSpec& spec) {
  const charts::MemoryStack stack = charts::memory_stack(variant, context.shown.occupancy(), spec);
  {
    const PartScope scope(context, Part::variant);
    big_figure(with_commas(stack.total_bytes), "B per CTA",
               stack.over_static || stack.over_optin ? palette().bad : palette().text);
    kind_badge_at_right(context.glossary, FigureKind::counted);
  }
  const std::string split = stack.dynamic_bytes == 0 ? "all of it static"
                            : stack.static_bytes == 0
                                ? "all of it dynamic"
                                : fmt::format("{} static, {} dynamic", charts::bytes_text(stack.static_bytes),
                                              charts::bytes_text(stack.dynamic_bytes));
  const VariantInfo* a = ghost_of(context, &Observation::variant);
  const int64_t a_bytes = a != nullptr ? a->static_shared_bytes + a->dynamic_shared_bytes : 0;
  part_note(context, Part::variant,
            (stack.total_bytes == 0 ? "none is used" : split) +
                (a != nullptr ? "; A " + charts::bytes_text(a_bytes) : std::string()));
  ghost_note(context);
  const PartScope scope(context, Part::variant);
  memory_gauge(stack, a != nullptr ? std::optional(a_bytes) : std::nullopt);
}

void MemoryPanel::draw_buffers(Context& context, const VariantInfo& variant, const DeviceSpec& spec) {
  const charts::MemoryStack stack = charts::memory_stack(variant, context.shown.occupancy(), spec);
  const PartScope scope(context, Part::variant);
  const VariantInfo* a = ghost_of(context, &Observation::variant);
  const charts::MemoryStack stack_a =
      a != nullptr ? charts::memory_stack(*a, ghost_of(context, &Observation::occupancy), spec) : charts::MemoryStack{};
  if (stack.segments.empty() && stack_a.segments.empty())
    small_text("This kernel uses no shared memory.", palette().dim);
  else
    memory_legend(stack, a != nullptr ? &stack_a : nullptr);
  ImGui::Dummy({0, em(0.1f)});
  std::vector<Stat> stats{{"registers", std::to_string(variant.registers), false},
                          {"spills", charts::bytes_text(variant.spill_bytes), variant.spill_bytes > 0},
                          {"stack", charts::bytes_text(variant.stack_bytes), false},
                          {"compile", variant.cached ? "cached" : compile_text(variant.compile_ms), false}};
  if (a != nullptr) {
    stats[0].a = std::to_string(a->registers);
    stats[1].a = charts::bytes_text(a->spill_bytes);
    stats[2].a = charts::bytes_text(a->stack_bytes);
  }
  stat_row(context.glossary, stats);
  if (!context.shown.from_history() && !context.snapshot.focus.same_code_as.empty())
    wrapped(ICON_INFO "  the same machine code as " + context.snapshot.focus.same_code_as, palette().warn, kSmallSize);
}

void MemoryPanel::draw_occupancy(Context& context, const VariantInfo* variant, const Occupancy& occupancy,
                                 const DeviceSpec& spec) {
  section("Occupancy");
  const PartScope scope(context, Part::occupancy);
  ImGui::PushFont(fonts().strong, kMediumSize);
  text(charts::percent_text(occupancy.fraction));
  ImGui::PopFont();
  ImGui::SameLine(0, em(0.5f));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + em(0.25f));
  const std::string warps = fmt::format("{} of {} warps", occupancy.warps_per_sm, spec.warps_sm);
  const Occupancy* a = ghost_of(context, &Observation::occupancy);
  const std::string against = a != nullptr ? "; A " + charts::percent_text(a->fraction) : "";
  const std::string words =
      fmt::format("{} CTA{} per SM, {}", occupancy.ctas_per_sm, occupancy.ctas_per_sm == 1 ? "" : "s", warps) + against;
  const float room = ImGui::GetContentRegionAvail().x;
  clipped(width_of(words) <= room ? words : warps + against, room, palette().dim);
  explain(context.glossary, "occupancy");
  warp_slots(spec.warps_sm, occupancy.ctas_per_sm,
             occupancy.ctas_per_sm > 0 ? occupancy.warps_per_sm / occupancy.ctas_per_sm : 0,
             a != nullptr ? std::optional(a->warps_per_sm) : std::nullopt);
  ImGui::Dummy({0, em(0.05f)});
  if (variant != nullptr) wrapped(charts::limiter_sentence(*variant, occupancy, spec), palette().text, kSmallSize);
  ImGui::Dummy({0, em(0.15f)});
  wave_rows(occupancy);
  wrapped(charts::waves_sentence(occupancy), palette().text, kSmallSize);
  if (a == nullptr) return;
  const std::string waves = charts::waves_sentence(*a);
  if (waves != charts::waves_sentence(occupancy)) wrapped("A: " + waves, palette().dim, kSmallSize);
}

std::unique_ptr<Panel> make_memory_panel(const std::filesystem::path&) { return std::make_unique<MemoryPanel>(); }

}  // namespace attnscope::ui
