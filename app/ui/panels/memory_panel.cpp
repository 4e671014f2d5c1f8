#include <fmt/format.h>

#include "charts/format.h"
#include "charts/memory_stack.h"
#include "charts/words.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/memory_gauge.h"
#include "ui/widgets/part.h"
#include "ui/widgets/stat.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

using session::Part;

namespace {

// A's part, to show beside the shown one; null if there is none.
template <class T>
const T* ghost_of(const Context& context, std::optional<T> Observation::*part) {
  const Observation* a = context.baseline.ghost;
  return a != nullptr && (a->*part) ? &*(a->*part) : nullptr;
}

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
  const PartScope scope(context, Part::variant);
  memory_gauge(stack, a != nullptr ? std::optional(a_bytes) : std::nullopt);
}

void MemoryPanel::draw_buffers(Context& context, const VariantInfo& variant, const DeviceSpec& spec) {
  const charts::MemoryStack stack = charts::memory_stack(variant, context.shown.occupancy(), spec);
  const PartScope scope(context, Part::variant);
  if (stack.segments.empty())
    small_text("This kernel uses no shared memory.", palette().dim);
  else
    memory_legend(stack);
  ImGui::Dummy({0, em(0.1f)});
  stat_row(context.glossary, {{"registers", std::to_string(variant.registers), false},
                              {"spills", charts::bytes_text(variant.spill_bytes), variant.spill_bytes > 0},
                              {"stack", charts::bytes_text(variant.stack_bytes), false},
                              {"compile", variant.cached ? "cached" : compile_text(variant.compile_ms), false}});
  if (const VariantInfo* a = ghost_of(context, &Observation::variant);
      a != nullptr && (a->registers != variant.registers || a->spill_bytes != variant.spill_bytes))
    small_text(fmt::format("A: {} registers, {} of spills", a->registers, charts::bytes_text(a->spill_bytes)),
               palette().dim);
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
             occupancy.ctas_per_sm > 0 ? occupancy.warps_per_sm / occupancy.ctas_per_sm : 0);
  ImGui::Dummy({0, em(0.05f)});
  if (variant != nullptr) wrapped(charts::limiter_sentence(*variant, occupancy, spec), palette().text, kSmallSize);
  ImGui::Dummy({0, em(0.15f)});
  wave_rows(occupancy);
  wrapped(charts::waves_sentence(occupancy), palette().text, kSmallSize);
}

std::unique_ptr<Panel> make_memory_panel(const std::filesystem::path&) { return std::make_unique<MemoryPanel>(); }

}  // namespace attnscope::ui
