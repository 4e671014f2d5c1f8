// The Sweep panel's set-up: what the next sweep tries, where and how.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/option_fields.h"
#include "core/options.h"
#include "core/with_commas.h"
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
    case search::StrategyKind::learning:
      return "Configs that the results so far suggest are fast, near the fastest and elsewhere.";
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
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", with_commas(int64_t(count)), to_string(why));
  return words;
}

// Continues beside the last item, or on the next line if a checkbox with that text does not fit.
void next_box(const std::string& words) {
  ImGui::SameLine(0, em(0.8f));
  if (ImGui::GetContentRegionAvail().x >= ImGui::GetFrameHeight() + width_of(words) + em(1.2f)) return;
  ImGui::NewLine();
  ImGui::SetCursorPosX(em(10));
}

void refusal_lines(const Failure& why) {
  wrapped(why.message, palette().warn);
  wrapped(why.hint, palette().dim, kSmallSize);
}

}  // namespace

bool SweepPanel::draw_ticks(const char* name, const std::string& about, const std::vector<KnobValue>& values,
                            std::set<int64_t>& ticked) {
  ImGui::PushID(name);
  ImGui::AlignTextToFramePadding();
  text(name);
  tooltip(about);
  ImGui::SameLine(em(10));
  if (ImGui::SmallButton("all"))
    for (const KnobValue& value : values) ticked.insert(value.value);
  tooltip("Ticks every value");
  ImGui::SameLine(0, em(0.3f));
  const bool current = ImGui::SmallButton("current");
  tooltip("Ticks only the experiment's value, whichever that is at the start");
  for (const KnobValue& value : values) {
    next_box(value.text());
    bool on = ticked.contains(value.value);
    if (ImGui::Checkbox(value.text().c_str(), &on))
      on ? (void)ticked.insert(value.value) : (void)ticked.erase(value.value);
  }
  ImGui::PopID();
  return current;
}

void SweepPanel::draw_knob(const Knob& knob, const Config& held, SweepWishes& wishes) {
  const auto current = held.knobs.find(knob.name);
  const auto found = wishes.ticked.find(knob.name);
  std::set<int64_t> ticked;
  if (wishes.held.contains(knob.name) && current != held.knobs.end())
    ticked = {current->second};
  else if (found != wishes.ticked.end())
    ticked = found->second;
  else
    for (const KnobValue& value : knob.values) ticked.insert(value.value);
  const std::set<int64_t> before = ticked;
  if (draw_ticks(knob.name.c_str(), knob.doc, knob.values, ticked)) {
    wishes.held.insert(knob.name);
  } else if (ticked != before) {
    wishes.held.erase(knob.name);
    wishes.ticked[knob.name] = std::move(ticked);
  }
}

// An option with only its current value ticked stays as in the experiment.
void SweepPanel::draw_option(const char* name, std::string_view title, const Config& held, SweepWishes& wishes) {
  const std::set<int64_t> current{option_value(held.options, name)};
  const auto found = wishes.options.find(name);
  std::set<int64_t> ticked = found == wishes.options.end() ? current : found->second;
  std::set<int64_t> shown = ticked;
  shown.insert(current.begin(), current.end());
  std::vector<KnobValue> values;
  for (const int64_t value : search::option_choices(name, shown))
    values.push_back({value, option_value_text(name, value)});
  const bool follows =
      draw_ticks(std::string(title).c_str(), "A compile option. All its ticked values are tried with every config",
                 values, ticked);
  if (follows || ticked == current)
    wishes.options.erase(name);
  else
    wishes.options[name] = std::move(ticked);
}

void SweepPanel::draw_workers(const Context& context, const SweepPreview* preview, SweepWishes& wishes) {
  const auto others = SweepDesk::others(context.snapshot, context.draft.current().device, preview && preview->by_nvcc);
  ImGui::AlignTextToFramePadding();
  text("also on");
  tooltip(
      "Other workers with a device like the experiment's. Each takes the next config, and the results are one sweep's");
  if (others.empty()) {
    ImGui::SameLine(em(10));
    ImGui::AlignTextToFramePadding();
    if (ImGui::SmallButton("Add a worker\u2026")) context.show_workers();
    ImGui::SameLine();
    return clipped("no other one has such a device", ImGui::GetContentRegionAvail().x, palette().dim);
  }
  ImGui::SameLine(em(10));
  for (size_t at = 0; at < others.size(); ++at) {
    const auto& [id, why_not] = others[at];
    if (at > 0) next_box(id);
    bool on = why_not.empty() && wishes.devices.contains(id);
    ImGui::BeginDisabled(!why_not.empty());
    if (ImGui::Checkbox(id.c_str(), &on)) on ? (void)wishes.devices.insert(id) : (void)wishes.devices.erase(id);
    ImGui::EndDisabled();
    if (!why_not.empty()) tooltip("It takes no part: " + why_not);
  }
}

void SweepPanel::draw_how(SweepWishes& wishes) {
  ImGui::AlignTextToFramePadding();
  text("strategy");
  ImGui::SameLine(em(10));
  ImGui::SetNextItemWidth(em(10));
  if (ImGui::BeginCombo("##strategy", std::string(to_string(wishes.strategy)).c_str())) {
    for (const auto& [strategy, word] : Words<search::StrategyKind>::table) {
      if (ImGui::Selectable(std::string(attnscope::to_string(strategy)).c_str(), strategy == wishes.strategy))
        wishes.strategy = strategy;
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
    std::string words = with_commas(int64_t(preview->plan.space.size())) + " configs";
    if (excluded > 0)
      words += fmt::format(", {} excluded ({})", with_commas(int64_t(excluded)), counted(preview->candidates.excluded));
    small_text(words + fmt::format(", {} to run", with_commas(int64_t(preview->most()))), palette().dim);
  } else {
    small_text("counting the configs", palette().dim);
  }
  for (const Knob& knob : kernel->knobs) draw_knob(knob, draft.config, wishes);
  if (kernel->library.is_source())
    for_each_option(
        [&](const char* name, std::string_view title, auto) { draw_option(name, title, draft.config, wishes); });
  draw_how(wishes);
  draw_workers(context, preview, wishes);
}

}  // namespace attnscope::ui
