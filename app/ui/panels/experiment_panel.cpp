#include "ui/panels/experiment_panel.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "catalog/choices.h"
#include "catalog/validate.h"
#include "core/problem.h"
#include "ui/icons.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

// Wide enough for the longest knob name that ships, and no wider than two fifths of the panel.
float label_width() { return std::min(em(6.9f), ImGui::GetContentRegionAvail().x * 0.42f); }

void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  const std::string fitting = shortened(words, width - em(0.4f));
  ImGui::PushStyleColor(ImGuiCol_Text, palette().text);
  text(fitting);
  ImGui::PopStyleColor();
  ImGui::PopFont();
  tooltip(explanation.empty() ? glossary.find(words) : explanation);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetStyle().WindowPadding.x + width);
}

// A warning that goes with every legal value of a knob says nothing about choosing among them.
bool shared_by_knob(const std::vector<catalog::KnobChoice>& choices, const std::string& knob,
                    const std::string& warning) {
  return std::all_of(choices.begin(), choices.end(), [&](const catalog::KnobChoice& choice) {
    return choice.knob != knob || !choice.legal ||
           std::find(choice.warnings.begin(), choice.warnings.end(), warning) != choice.warnings.end();
  });
}

std::string joined(const std::string& first, const std::string& second) {
  return second.empty() ? first : first.empty() ? second : first + "\n" + second;
}

}  // namespace

void ExperimentPanel::draw(Context& context) {
  const session::Draft& draft = context.draft.current();
  const Kernel* kernel = session::find_kernel(context.snapshot, draft.kernel);
  draw_kernels(context, kernel);
  if (kernel != nullptr) draw_knobs(context, *kernel);
  draw_failure(context);
  draw_problem(context, kernel);
  draw_compile(context);
  draw_device(context);
}

// Below the knobs as their notes are: a run that fails moves no knob from under the pointer.
void ExperimentPanel::draw_failure(const Context& context) {
  const Failure* failure = context.shown.failure();
  if (failure == nullptr || readout_of(failure->stage) != Readout::experiment || context.shown.from_history()) return;
  failure_box(*failure, "##failure");
  ImGui::Dummy({0, em(0.2f)});
}

std::string ExperimentPanel::refusal_of(const std::string& knob) const {
  const auto found = refused_.find(knob);
  return found == refused_.end() ? std::string() : found->second;
}

std::optional<RailPlace> ExperimentPanel::rail_of(const std::string& knob) const {
  const auto found = rails_.find(knob);
  return found == rails_.end() ? std::nullopt : std::optional(found->second);
}

void ExperimentPanel::draw_kernels(Context& context, const Kernel* kernel) {
  section("Kernel");
  if (!context.snapshot.kernels || context.snapshot.kernels->empty()) {
    wrapped("No kernel was found. Kernels are folders of .cu and .json files, given with --kernels.", palette().dim);
  } else {
    const DeviceSpec* spec = session::find_device(context.snapshot, context.draft.current().device);
    for (const Kernel& rung : *context.snapshot.kernels) {
      const bool chosen = kernel != nullptr && kernel->id == rung.id;
      const auto runs = spec != nullptr ? catalog::check_runs(rung, *spec) : Result<void>();
      ImGui::PushID(rung.id.c_str());
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float height = em(1.75f);
      if (ImGui::Selectable("##rung", chosen, 0, {0, height}) && !chosen) {
        session::Draft wish = with_kernel(context.draft.current(), rung);
        const std::string change =
            "kernel " + (kernel != nullptr ? kernel->id : draft_of({}).kernel) + " \u2192 " + rung.id;
        context.post(std::move(wish), {context.new_gesture(), true, change});
      }
      tooltip(runs ? rung.story : joined(runs.error().message, runs.error().hint));
      ImDrawList* list = ImGui::GetWindowDrawList();
      const ImVec2 centre{at.x + em(0.95f), at.y + height / 2};
      list->AddCircleFilled(centre, em(0.68f), chosen ? palette().accent : palette().raised);
      ImGui::PushFont(fonts().strong, kSmallSize);
      const std::string number = rung.rung > 0 ? std::to_string(rung.rung) : "\u00b7";
      list->AddText({centre.x - width_of(number) / 2, centre.y - ImGui::GetFontSize() / 2},
                    chosen ? palette().on_accent : palette().dim, number.c_str());
      ImGui::PopFont();
      const float room = ImGui::GetContentRegionAvail().x - em(2.3f);
      const std::string name = shortened(rung.title, room);
      list->AddText({at.x + em(2.0f), at.y + (height - ImGui::GetFontSize()) / 2},
                    runs || chosen ? palette().text : palette().dim, name.c_str());
      ImGui::PopID();
    }
    if (kernel != nullptr && !kernel->story.empty()) {
      ImGui::Dummy({0, em(0.1f)});
      wrapped(kernel->story, palette().dim, kSmallSize);
    }
  }
  if (context.snapshot.kernel_failures)
    for (size_t at = 0; at < context.snapshot.kernel_failures->size(); ++at)
      failure_box((*context.snapshot.kernel_failures)[at], fmt::format("##kernel failure {}", at).c_str());
}

// Rows are made anew only when what they depend on changes: each value of each knob is held against the manifest's
// expressions, which is too much for every frame.
void ExperimentPanel::refresh_rows(const Context& context, const Kernel& kernel) {
  const session::Draft& draft = context.draft.current();
  Config config{draft.knobs, draft.options};
  const DeviceSpec* spec = session::find_device(context.snapshot, draft.device);
  const std::string key = kernel.content_hash + "|" + to_json(draft.problem).dump() + "|" + to_json(config).dump() +
                          "|" + draft.device + (spec != nullptr ? "" : "?");
  if (key == rows_of_) return;
  rows_of_ = key;
  rows_.clear();
  refused_.clear();
  for (const Knob& knob : kernel.knobs)
    if (!config.knobs.contains(knob.name)) config.knobs[knob.name] = knob.default_value;
  warnings_.clear();
  illegal_.clear();
  const auto choices = catalog::choices(kernel, draft.problem, config, spec != nullptr ? *spec : DeviceSpec{});
  for (const catalog::KnobChoice& choice : choices) {
    if (rows_.empty() || rows_.back().name != choice.knob) rows_.push_back({choice.knob, {}});
    std::string note = choice.legal ? std::string() : joined(choice.reason, choice.hint);
    for (const std::string& warning : choice.warnings)
      if (!shared_by_knob(choices, choice.knob, warning)) note = joined(note, warning);
    rows_.back().values.push_back({choice.value, choice.text, choice.legal, note, false});
    if (!choice.chosen) continue;
    if (!choice.legal) illegal_ = joined(choice.reason, choice.hint);
    warnings_ = choice.warnings;
  }
}

void ExperimentPanel::draw_knobs(Context& context, const Kernel& kernel) {
  section("Knobs");
  refresh_rows(context, kernel);
  if (rows_.empty()) dim_text("This kernel has no knobs.");
  for (const KnobRow& row : rows_) draw_knob(context, kernel, row);
  draw_notes(context);
  draw_invitation(context, kernel);
}

// Below the knobs, so that none moves while it is dragged.
void ExperimentPanel::draw_notes(Context&) {
  if (!illegal_.empty()) wrapped(ICON_CLOSE "  " + illegal_, palette().bad, kSmallSize);
  for (const std::string& warning : warnings_) wrapped(ICON_WARNING "  " + warning, palette().warn, kSmallSize);
  for (const auto& [name, reason] : refused_) wrapped(ICON_CLOSE "  " + reason, palette().bad, kSmallSize);
}

void ExperimentPanel::draw_knob(Context& context, const Kernel& kernel, const KnobRow& row) {
  const Knob* knob = kernel.find_knob(row.name);
  if (knob == nullptr) return;
  const session::Draft& draft = context.draft.current();
  const auto held = draft.knobs.find(row.name);
  const int64_t current = held != draft.knobs.end() ? held->second : knob->default_value;
  const float left = label_width();
  label(context.glossary, row.name, knob->doc, left);
  std::vector<RailValue> values = row.values;
  const bool invite = !context.settings.invited && row.name == "NUM_WARPS";
  bool legal_now = true;
  for (RailValue& value : values) {
    if (invite && value.value == 8 && value.legal) value.beckoned = true;
    if (value.value == current) legal_now = value.legal;
  }
  const RailEvent event = value_rail(row.name.c_str(), values, current, ImGui::GetContentRegionAvail().x, !legal_now);
  const ImVec2 low = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  rails_[row.name] = {low.x, low.y, size.x, size.y};
  Drag& drag = drags_[row.name];
  if (event.pressed) drag = {context.new_gesture(), current};
  if (event.refused) refused_[row.name] = values[*event.refused].reason;
  if (event.chosen) {
    refused_.erase(row.name);
    session::Draft wish = draft;
    wish.knobs[row.name] = *event.chosen;
    if (row.name == "NUM_WARPS") context.settings.invited = true;
    context.post(std::move(wish), {drag.gesture, event.released, change_text(*knob, drag.from, *event.chosen)});
  } else if (event.released && drag.gesture != 0 && current != drag.from) {
    context.post(draft, {drag.gesture, true, change_text(*knob, drag.from, current)});
  }
}

void ExperimentPanel::draw_invitation(Context& context, const Kernel& kernel) {
  const Knob* knob = kernel.find_knob("NUM_WARPS");
  if (context.settings.invited || knob == nullptr || knob->find(8) == nullptr) return;
  ImGui::PushStyleColor(ImGuiCol_Text, palette().accent);
  ImGui::PushStyleColor(ImGuiCol_Button, with_alpha(palette().accent, 0.14f));
  ImGui::PushFont(fonts().strong, kBaseSize * 0.9f);
  if (ImGui::Button(ICON_LIGHTBULB "  Move NUM_WARPS to 8###invitation", {ImGui::GetContentRegionAvail().x, 0})) {
    session::Draft wish = context.draft.current();
    const int64_t from = wish.knobs.contains("NUM_WARPS") ? wish.knobs["NUM_WARPS"] : knob->default_value;
    wish.knobs["NUM_WARPS"] = 8;
    context.settings.invited = true;
    context.post(std::move(wish), {context.new_gesture(), true, change_text(*knob, from, 8)});
  }
  ImGui::PopFont();
  ImGui::PopStyleColor(2);
  tooltip("Latency, shared memory, occupancy and error all answer.");
}

bool ExperimentPanel::size_field(Context&, const char* name, int64_t& value, float width) {
  ImGui::PushID(name);
  const auto typed = edited_.find(name);
  std::string shown = typed != edited_.end() ? typed->second : std::to_string(value);
  ImGui::SetNextItemWidth(width);
  ImGui::InputText("##size", &shown, ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_AutoSelectAll);
  bool changed = false;
  if (ImGui::IsItemActive())
    edited_[name] = shown;
  else
    edited_.erase(name);
  if (ImGui::IsItemDeactivatedAfterEdit()) {
    int64_t wanted = 0;
    const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), wanted);
    changed = error == std::errc() && end == shown.data() + shown.size() && wanted != value && wanted > 0;
    if (changed) value = wanted;
  }
  ImGui::PopID();
  return changed;
}

void ExperimentPanel::draw_sizes(Context& context) {
  Problem problem = context.draft.current().problem;
  const Problem before = problem;
  const float left = label_width(), gap = em(0.3f);
  auto pair = [&](const char* words, const char* explanation, const char* a, int64_t& first, const char* b,
                  int64_t& second) {
    label(context.glossary, words, explanation, left);
    const float each = (ImGui::GetContentRegionAvail().x - gap) / 2;
    const bool one = size_field(context, a, first, each);
    tooltip(a);
    ImGui::SameLine(0, gap);
    const bool two = size_field(context, b, second, each);
    tooltip(b);
    return std::pair(one, two);
  };
  const auto [batch, heads] = pair("batch, heads", "Sequences in the batch, and query heads of each.", "batch",
                                   problem.batch, "heads", problem.heads);
  if (heads) problem.kv_heads = problem.heads;
  const auto [seq_q, seq_k] =
      pair("seq q, k", "Query rows and keys of each head. A new query length sets both while they are equal.", "seq_q",
           problem.seq_q, "seq_k", problem.seq_k);
  if (seq_q && before.seq_q == before.seq_k) problem.seq_k = problem.seq_q;
  if (batch || heads || seq_q || seq_k) {
    session::Draft wish = context.draft.current();
    wish.problem = problem;
    context.post(std::move(wish), {context.new_gesture(), true, short_text(before) + " \u2192 " + short_text(problem)});
  }
}

// Of a kernel that is no attention: its manifest's sizes.
void ExperimentPanel::draw_own_sizes(Context& context) {
  Problem problem = context.draft.current().problem;
  const Problem before = problem;
  bool changed = false;
  for (auto& [name, value] : problem.sizes) {
    label(context.glossary, name, "A size of this kernel's problem.", label_width());
    changed = size_field(context, name.c_str(), value, ImGui::GetContentRegionAvail().x) || changed;
  }
  if (!changed) return;
  session::Draft wish = context.draft.current();
  wish.problem = problem;
  context.post(std::move(wish), {context.new_gesture(), true, short_text(before) + " \u2192 " + short_text(problem)});
}

void ExperimentPanel::draw_problem(Context& context, const Kernel* kernel) {
  section("Problem");
  if (!context.draft.current().problem.is_attention()) return draw_own_sizes(context);
  draw_sizes(context);
  const Problem& problem = context.draft.current().problem;
  auto choose = [&](const char* name, const std::string& doc, const std::vector<RailValue>& values, int64_t current,
                    auto set) {
    label(context.glossary, name, doc, label_width());
    const RailEvent event = value_rail(name, values, current, ImGui::GetContentRegionAvail().x, false);
    if (event.refused)
      refused_[name] = std::string(name) + " " + values[*event.refused].text + ": " + values[*event.refused].reason;
    if (event.chosen) {
      refused_.erase(name);
      session::Draft wish = context.draft.current();
      set(wish.problem, *event.chosen);
      std::string to, from;
      for (const RailValue& value : values) {
        if (value.value == *event.chosen) to = value.text;
        if (value.value == current) from = value.text;
      }
      context.post(std::move(wish), {context.new_gesture(), true, fmt::format("{} {} \u2192 {}", name, from, to)});
    }
  };
  auto supported = [&](const auto& list, const auto& value) {
    if (kernel == nullptr || list.empty()) return true;
    for (const auto& one : list)
      if (one == value) return true;
    return false;
  };
  const std::string refusal = kernel != nullptr ? "kernel " + kernel->id + " does not take it" : "";
  std::vector<RailValue> dims;
  for (const int64_t dim : {32, 64, 128, 256})
    if (dim == 64 || dim == 128 || dim == problem.head_dim ||
        (kernel != nullptr && supported(kernel->supports.head_dims, dim))) {
      const bool fits = kernel == nullptr || supported(kernel->supports.head_dims, dim);
      dims.push_back({dim, std::to_string(dim), fits, fits ? "" : refusal, false});
    }
  choose("head_dim", "", dims, problem.head_dim, [](Problem& p, int64_t v) { p.head_dim = v; });
  std::vector<RailValue> causals;
  for (const auto& [causal, word] :
       {std::pair{Causal::none, "none"}, {Causal::top_left, "top left"}, {Causal::bottom_right, "bottom right"}}) {
    const bool fits = kernel == nullptr || supported(kernel->supports.causals, causal);
    causals.push_back({static_cast<int64_t>(causal), word, fits, fits ? "" : refusal, false});
  }
  choose("causal", "", causals, static_cast<int64_t>(problem.causal),
         [](Problem& p, int64_t v) { p.causal = static_cast<Causal>(v); });
  std::vector<RailValue> dtypes;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const bool fits = kernel == nullptr || supported(kernel->supports.dtypes, dtype);
    dtypes.push_back({static_cast<int64_t>(dtype), std::string(to_string(dtype)), fits, fits ? "" : refusal, false});
  }
  choose("dtype", "", dtypes, static_cast<int64_t>(problem.dtype),
         [](Problem& p, int64_t v) { p.dtype = static_cast<DType>(v); });
  std::vector<RailValue> distributions;
  for (const Distribution d :
       {Distribution::normal, Distribution::uniform, Distribution::large, Distribution::constant})
    distributions.push_back({static_cast<int64_t>(d), std::string(to_string(d)), true, "", false});
  choose("inputs", "How the inputs are distributed.", distributions, static_cast<int64_t>(problem.distribution),
         [](Problem& p, int64_t v) { p.distribution = static_cast<Distribution>(v); });
}

void ExperimentPanel::draw_compile(Context& context) {
  section("Compile");
  const session::Draft& draft = context.draft.current();
  CompileOptions options = draft.options;
  std::string change;
  if (ImGui::Checkbox("fast math", &options.fast_math)) change = options.fast_math ? "fast math on" : "fast math off";
  explain(context.glossary, "fast math");
  ImGui::SameLine(0, em(1));
  if (ImGui::Checkbox("fmad", &options.fmad)) change = options.fmad ? "fmad on" : "fmad off";
  explain(context.glossary, "fmad");
  std::vector<RailValue> limits;
  for (const int64_t limit : {0, 32, 64, 96, 128, 168, 255})
    limits.push_back({limit, limit == 0 ? "none" : std::to_string(limit), true, "", false});
  if (std::none_of(limits.begin(), limits.end(), [&](const RailValue& v) { return v.value == options.maxrregcount; }))
    limits.push_back({options.maxrregcount, std::to_string(options.maxrregcount), true, "", false});
  label(context.glossary, "maxrregcount",
        "The most registers a thread may have. Fewer make room for more warps, until values spill.", label_width());
  const RailEvent event =
      value_rail("maxrregcount", limits, options.maxrregcount, ImGui::GetContentRegionAvail().x, false);
  if (event.chosen) {
    change = fmt::format("maxrregcount {} \u2192 {}", options.maxrregcount, *event.chosen);
    options.maxrregcount = static_cast<int>(*event.chosen);
  }
  if (change.empty()) return;
  session::Draft wish = draft;
  wish.options = options;
  context.post(std::move(wish), {context.new_gesture(), true, change});
}

void ExperimentPanel::draw_device(Context& context) {
  section("Device");
  const session::Draft& draft = context.draft.current();
  const DeviceSpec* spec = session::find_device(context.snapshot, draft.device);
  const std::string shown = spec != nullptr ? spec->id + "  \u00b7  " + spec->name : draft.device;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::BeginCombo("##device", shown.c_str())) {
    if (context.snapshot.devices)
      for (const DeviceSpec& device : *context.snapshot.devices) {
        const std::string line = fmt::format("{}  \u00b7  {}, sm_{}{}", device.id, device.name, device.arch,
                                             device.emulated ? ", emulated" : "");
        if (ImGui::Selectable(line.c_str(), device.id == draft.device) && device.id != draft.device) {
          session::Draft wish = draft;
          wish.device = device.id;
          context.post(std::move(wish),
                       {context.new_gesture(), true, "device " + draft.device + " \u2192 " + device.id});
        }
      }
    ImGui::EndCombo();
  }
  if (!context.snapshot.device_reason.empty()) wrapped(context.snapshot.device_reason, palette().dim, kSmallSize);
}

}  // namespace attnscope::ui
