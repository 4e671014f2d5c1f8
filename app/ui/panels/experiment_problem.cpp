// The experiment panel's lower part: problem, compile options, device.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/option_fields.h"
#include "core/options.h"
#include "core/problem.h"
#include "core/text.h"
#include "ui/panels/experiment_panel.h"
#include "ui/widgets/control_label.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

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
    const auto wanted = number_of<int64_t>(shown);
    changed = wanted && *wanted != value && *wanted > 0;
    if (changed) value = *wanted;
  }
  ImGui::PopID();
  return changed;
}

void ExperimentPanel::draw_sizes(Context& context) {
  Problem problem = context.draft.current().problem;
  const Problem before = problem;
  const float left = label_width(), gap = em(0.3f);
  auto pair = [&](const char* words, const char* explanation, const char* a, int64_t& first, const char* first_is,
                  const char* b, int64_t& second, const char* second_is) {
    label(context.glossary, words, explanation, left);
    const float each = (ImGui::GetContentRegionAvail().x - gap) / 2;
    const bool one = size_field(context, a, first, each);
    tooltip(first_is);
    ImGui::SameLine(0, gap);
    const bool two = size_field(context, b, second, each);
    tooltip(second_is);
    return std::pair(one, two);
  };
  const auto [batch, heads] =
      pair("batch, heads", "Sequences in the batch, and query heads of each.", "batch", problem.batch,
           "Sequences in the batch.", "heads", problem.heads, "Query heads of each sequence.");
  if (heads) problem.kv_heads = problem.heads;
  const auto [seq_q, seq_k] =
      pair("queries, keys", "Query rows and keys of each head.", "seq_q", problem.seq_q,
           "Query rows of each head (seq_q). A new number sets the keys too while the two are equal.", "seq_k",
           problem.seq_k, "Keys of each head (seq_k).");
  if (seq_q && before.seq_q == before.seq_k) problem.seq_k = problem.seq_q;
  if (batch || heads || seq_q || seq_k) {
    Draft wish = context.draft.current();
    wish.problem = problem;
    context.post(std::move(wish), {context.new_gesture(), true, short_text(before) + " \u2192 " + short_text(problem)});
  }
}

// The sizes that the manifest declares, for a kernel that is not attention.
void ExperimentPanel::draw_own_sizes(Context& context) {
  Problem problem = context.draft.current().problem;
  const Problem before = problem;
  bool changed = false;
  for (auto& [name, value] : problem.sizes) {
    label(context.glossary, name, "A size of this kernel's problem.", label_width());
    changed = size_field(context, name.c_str(), value, ImGui::GetContentRegionAvail().x) || changed;
  }
  if (!changed) return;
  Draft wish = context.draft.current();
  wish.problem = problem;
  context.post(std::move(wish), {context.new_gesture(), true, short_text(before) + " \u2192 " + short_text(problem)});
}

void ExperimentPanel::draw_problem(Context& context, const Kernel* kernel) {
  section("Problem");
  if (kernel != nullptr) {
    const Draft& draft = context.draft.current();
    const Draft own = with_own_problem(draft, *kernel);
    if (reset_of_section("reset problem", draft.problem == own.problem,
                         "Sets the problem to " + short_text(own.problem) + "."))
      context.post(own,
                   {context.new_gesture(), true, short_text(draft.problem) + " \u2192 " + short_text(own.problem)});
  }
  if (!context.draft.current().problem.is_attention()) return draw_own_sizes(context);
  draw_sizes(context);
  const Problem& problem = context.draft.current().problem;
  auto choose = [&](const char* name, const std::string& doc, const std::vector<RailValue>& values, int64_t current,
                    auto set) {
    label(context.glossary, name, doc, label_width());
    const RailEvent event = value_rail(name, values, current, ImGui::GetContentRegionAvail().x, false);
    if (event.refused)
      refused_[name] = {std::string(name) + " " + values[*event.refused].text + ": " + values[*event.refused].reason,
                        "Choose another kernel.",
                        {}};
    if (event.pressed && !event.refused) refused_.erase(name);
    if (event.chosen) {
      refused_.erase(name);
      Draft wish = context.draft.current();
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

namespace {

constexpr const char* kNoNvcc =
    "The machine that compiles has no nvcc that fits: `attnscope fetch nvcc` gets one, and `attnscope doctor` says "
    "what is missing.";

// Why the machine of the chosen device cannot compile with that option's value; empty if it can.
template <class Value>
std::string unavailable(const Context& context, Value value) {
  if constexpr (std::is_same_v<Value, CompilerChoice>) {
    const auto* worker = session::worker_of(context.snapshot, context.draft.current().device);
    if (value == CompilerChoice::nvcc && worker != nullptr && worker->versions.nvcc.empty()) return kNoNvcc;
  }
  return "";
}

// A compile option that is a number or a word. `name`: its label, `key`: its own name.
template <class Value>
bool choose_value(const Context& context, const char* key, const std::string& name, Value& value) {
  const auto current = static_cast<int64_t>(value);
  std::vector<RailValue> values;
  const auto offer = [&](int64_t one) {
    const std::string why = unavailable(context, static_cast<Value>(one));
    values.push_back({one, option_words(key, one), why.empty(), why, false});
  };
  for (const int64_t one : offered_values(key)) offer(one);
  if (std::ranges::find(values, current, &RailValue::value) == values.end()) offer(current);
  label(context.glossary, name, "", label_width());
  const RailEvent event = value_rail(name.c_str(), values, current, ImGui::GetContentRegionAvail().x, false);
  if (event.chosen) value = static_cast<Value>(*event.chosen);
  return event.chosen.has_value();
}

}  // namespace

void ExperimentPanel::draw_compile(Context& context) {
  section("Compile");
  const Draft& draft = context.draft.current();
  CompileOptions options = draft.config.options;
  std::string change;
  bool begun = false;
  for_each_option([&](const char* key, std::string_view title, auto member) {
    auto& value = options.*member;
    const std::string name(title), before = shown_option(options, key);
    if constexpr (std::is_same_v<decltype(member), bool CompileOptions::*>) {
      if (std::exchange(begun, true)) ImGui::SameLine(0, em(1));
      if (ImGui::Checkbox(name.c_str(), &value)) change = name + " " + option_words(key, value);
      explain(context.glossary, name);
    } else if (choose_value(context, key, name, value)) {
      change = fmt::format("{} {} \u2192 {}", name, before, shown_option(options, key));
    }
  });
  if (change.empty()) return;
  Draft wish = draft;
  wish.config.options = options;
  context.post(std::move(wish), {context.new_gesture(), true, change});
}

void ExperimentPanel::draw_device(Context& context) {
  section("Device");
  const Draft& draft = context.draft.current();
  const DeviceSpec* spec = session::find_device(context.snapshot, draft.device);
  const std::string shown = spec != nullptr ? spec->id + "  \u00b7  " + spec->name : draft.device;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::BeginCombo("##device", shown.c_str())) {
    if (context.snapshot.devices)
      for (const DeviceSpec& device : *context.snapshot.devices) {
        const std::string line = fmt::format("{}  \u00b7  {}, sm_{}{}", device.id, device.name, device.arch,
                                             device.emulated ? ", emulated" : "");
        if (ImGui::Selectable(line.c_str(), device.id == draft.device) && device.id != draft.device) {
          Draft wish = draft;
          wish.device = device.id;
          context.post(std::move(wish),
                       {context.new_gesture(), true, "device " + draft.device + " \u2192 " + device.id});
        }
      }
    ImGui::Separator();
    if (ImGui::Selectable("Another machine's\u2026###workers")) context.show_workers();
    ImGui::EndCombo();
  }
  tooltip(context.snapshot.device_reason);
}

}  // namespace attnscope::ui
