// What the next sweep tries, where, and how: the Sweep panel's set-up.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/option_fields.h"
#include "core/options.h"
#include "ui/layout.h"
#include "ui/panels/sweep_panel.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

const char* meaning_of(search::StrategyKind strategy) {
  switch (strategy) {
    case search::StrategyKind::exhaustive:
      return "Every config, in order.";
    case search::StrategyKind::random:
      return "Every config, in a random order: for a budget.";
    case search::StrategyKind::evolutionary:
      return "Mutations of the fastest so far.";
    case search::StrategyKind::local:
      return "The neighbours of the fastest so far.";
    case search::StrategyKind::model_guided:
      return "The model ranks all configs, and the device runs those ranked fastest. On an "
             "emulated device, which is modelled itself, every config runs.";
    case search::StrategyKind::halving:
      return "All configs with few samples, the faster half and its ties again with twice the time, and so on. On an "
             "emulated device, whose times have no samples, every config runs once.";
  }
  return "";
}

// "192 limit, 416 warning"
std::string counted(const std::vector<search::Excluded>& excluded) {
  std::map<search::Exclusion, size_t> counts;
  for (const search::Excluded& one : excluded) ++counts[one.why];
  std::string words;
  for (const auto& [why, count] : counts)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, to_string(why));
  return words;
}

void refusal_lines(const Failure& why) {
  wrapped(why.message, palette().warn);
  wrapped(why.hint, palette().dim, kSmallSize);
}

}  // namespace

void SweepPanel::draw_ticks(const char* name, const std::string& about, const std::vector<KnobValue>& values,
                            std::optional<int64_t> current, std::set<int64_t>& ticked) {
  ImGui::PushID(name);
  ImGui::AlignTextToFramePadding();
  text(name);
  tooltip(about);
  ImGui::SameLine(em(10));
  if (ImGui::SmallButton("all"))
    for (const KnobValue& value : values) ticked.insert(value.value);
  tooltip("Ticks every value");
  ImGui::SameLine(0, em(0.3f));
  if (ImGui::SmallButton("current") && current) ticked = {*current};
  tooltip("Ticks only the current value, so it stays as it is");
  for (const KnobValue& value : values) {
    const float wide = ImGui::GetFrameHeight() + width_of(value.text()) + em(1.2f);
    ImGui::SameLine(0, em(0.8f));
    if (ImGui::GetContentRegionAvail().x < wide) {
      ImGui::NewLine();
      ImGui::SetCursorPosX(em(10));
    }
    bool on = ticked.contains(value.value);
    if (ImGui::Checkbox(value.text().c_str(), &on))
      on ? (void)ticked.insert(value.value) : (void)ticked.erase(value.value);
  }
  ImGui::PopID();
}

void SweepPanel::draw_knob(const Knob& knob, const Config& held, SweepWishes& wishes) {
  std::set<int64_t> values;
  for (const KnobValue& value : knob.values) values.insert(value.value);
  const auto found = wishes.ticked.find(knob.name);
  std::set<int64_t> ticked = found == wishes.ticked.end() ? values : found->second;
  const std::set<int64_t> before = ticked;
  const auto current = held.knobs.find(knob.name);
  draw_ticks(knob.name.c_str(), knob.doc, knob.values,
             current == held.knobs.end() ? std::nullopt : std::optional(current->second), ticked);
  if (ticked != before) wishes.ticked[knob.name] = std::move(ticked);
}

// An option of which nothing is ticked yet stays as it is.
void SweepPanel::draw_option(const char* name, std::string_view title, const Config& held, SweepWishes& wishes) {
  const int64_t current = option_value(held.options, name);
  std::vector<KnobValue> values;
  for (const int64_t value : search::option_choices(name, current))
    values.push_back({value, option_value_text(name, value)});
  const auto found = wishes.options.find(name);
  std::set<int64_t> ticked = found == wishes.options.end() ? std::set{current} : found->second;
  const std::set<int64_t> before = ticked;
  draw_ticks(std::string(title).c_str(), "A compile option. All its ticked values are tried with every config", values,
             current, ticked);
  if (ticked != before) wishes.options[name] = std::move(ticked);
}

void SweepPanel::draw_workers(const Context& context, SweepWishes& wishes) {
  const std::vector<std::string> others = SweepDesk::alike(context.snapshot, context.draft.current().device);
  ImGui::AlignTextToFramePadding();
  text("also on");
  tooltip(
      "Other workers with a device like the experiment's. Each takes the next config, and the results are one sweep's");
  ImGui::SameLine(em(10));
  if (others.empty()) {
    ImGui::AlignTextToFramePadding();
    return dim_text("no other worker has such a device; --worker NAME=COMMAND and the settings add workers");
  }
  for (const std::string& id : others) {
    bool on = wishes.devices.contains(id);
    if (ImGui::Checkbox(id.c_str(), &on)) on ? (void)wishes.devices.insert(id) : (void)wishes.devices.erase(id);
    ImGui::SameLine(0, em(0.8f));
  }
  ImGui::NewLine();
}

void SweepPanel::draw_how(SweepWishes& wishes) {
  ImGui::AlignTextToFramePadding();
  text("strategy");
  ImGui::SameLine(em(10));
  ImGui::SetNextItemWidth(em(10));
  if (ImGui::BeginCombo("##strategy", std::string(to_string(wishes.strategy)).c_str())) {
    for (const auto& [strategy, word] : Words<search::StrategyKind>::table) {
      if (ImGui::Selectable(std::string(label(word)).c_str(), strategy == wishes.strategy)) wishes.strategy = strategy;
      tooltip(meaning_of(strategy));
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine(0, em(1));
  text("budget");
  ImGui::SameLine(0, em(0.5f));
  ImGui::SetNextItemWidth(em(5));
  if (ImGui::InputInt("##budget", &wishes.budget, 0)) wishes.budget = std::max(wishes.budget, 0);
  tooltip("At most this many configs are tried; 0: as many as the strategy wants");
}

void SweepPanel::draw_setup(Context& context, const SweepPreview* preview) {
  const Draft& draft = context.draft.current();
  const Kernel* kernel = session::find_kernel(context.snapshot, draft.kernel);
  if (kernel == nullptr) return dim_text("No kernel is chosen.");
  SweepWishes& wishes = context.sweep.wishes(kernel->id);
  if (preview != nullptr && preview->refusal) {
    refusal_lines(*preview->refusal);
  } else if (preview != nullptr) {
    const size_t excluded = preview->candidates.excluded.size();
    std::string words = fmt::format("{} configs", preview->plan.space.size());
    if (excluded > 0) words += fmt::format(", {} excluded ({})", excluded, counted(preview->candidates.excluded));
    small_text(words + fmt::format(", {} to run", preview->most()), palette().dim);
  } else {
    small_text("counting the configs", palette().dim);
  }
  for (const Knob& knob : kernel->knobs) draw_knob(knob, draft.config, wishes);
  if (kernel->library.is_source())
    for_each_option(
        [&](const char* name, std::string_view title, auto) { draw_option(name, title, draft.config, wishes); });
  draw_how(wishes);
  draw_workers(context, wishes);
}

}  // namespace attnscope::ui
