#include "ui/panels/experiment_panel.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catalog/choices.h"
#include "catalog/validate.h"
#include "core/experiment_fields.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/scans.h"
#include "ui/widgets/control_label.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

// A warning that applies to every legal value of a knob does not help to choose among them.
bool shared_by_knob(const std::vector<catalog::KnobChoice>& choices, const std::string& knob,
                    const std::string& warning) {
  return std::all_of(choices.begin(), choices.end(), [&](const catalog::KnobChoice& choice) {
    return choice.knob != knob || !choice.legal ||
           std::find(choice.warnings.begin(), choice.warnings.end(), warning) != choice.warnings.end();
  });
}

// Marks the rail's values with a scan's rows. They are in the same order unless a value belongs to another version of
// the kernel.
void mark_values(std::vector<RailValue>& values, const charts::ScanSeries& series) {
  for (RailValue& value : values)
    for (const charts::ScanRow& row : series.rows) {
      if (row.value != value.value) continue;
      RailMark mark{0, row.kind, row.best, row.tie, false, words_of(row)};
      if (row.us && series.most > 0) mark.level = f32(*row.us / series.most);
      mark.faulty = row.state == charts::ScanState::faulty || row.state == charts::ScanState::failed ||
                    (row.state == charts::ScanState::refused && value.legal);
      if (!value.reason.empty() && row.reason.empty() && row.warning.empty()) mark.about += "\n" + value.reason;
      value.mark = std::move(mark);
    }
}

// Ems of the part above the notes: below this height, the whole ladder does not fit beside the knobs.
constexpr float kShortPanel = 38;

std::string joined(const std::string& first, const std::string& second) {
  return second.empty() ? first : first.empty() ? second : first + "\n" + second;
}

}  // namespace

void ExperimentPanel::draw(Context& context) {
  const Draft& draft = context.draft.current();
  const Kernel* kernel = session::find_kernel(context.snapshot, draft.kernel);
  const ImVec2 start = ImGui::GetCursorStartPos(), padding = ImGui::GetStyle().WindowPadding;
  const ImVec2 size = ImGui::GetWindowSize(), low{0, start.y - padding.y};
  const float notes = notes_height(size.y - low.y);
  const ImGuiID own = ImGui::GetCurrentWindow()->ID;  // items of both scrolling parts use this window's ids
  const ImGuiChildFlags flags = ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened;
  ImGui::SetCursorPos(low);
  if (ImGui::BeginChild("controls", {size.x, size.y - low.y - notes}, flags)) {
    ImGui::PushOverrideID(own);
    draw_device(context);
    draw_kernels(context, kernel);
    if (kernel != nullptr) draw_knobs(context, *kernel);
    draw_problem(context, kernel);
    draw_compile(context);
    ImGui::PopID();
  }
  ImGui::EndChild();
  ImGui::SetCursorPos({0, size.y - notes});
  draw_notes_frame(notes);
  if (ImGui::BeginChild("notes", {size.x, notes - padding.y}, flags)) {
    ImGui::PushOverrideID(own);
    draw_notes(context, kernel);
    ImGui::PopID();
  }
  ImGui::EndChild();
}

void ExperimentPanel::draw_knobs_only(Context& context) {
  const Kernel* kernel = session::find_kernel(context.snapshot, context.draft.current().kernel);
  if (kernel != nullptr) draw_knobs(context, *kernel);
  draw_failure(context);
  if (kernel != nullptr) draw_refusals(context, *kernel);
}

std::string ExperimentPanel::refusal_of(const std::string& knob) const {
  const auto found = refused_.find(knob);
  return found == refused_.end() ? std::string() : joined(found->second.reason, found->second.hint);
}

std::optional<RailPlace> ExperimentPanel::rail_of(const std::string& knob) const {
  const auto found = rails_.find(knob);
  return found == rails_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<RailPlace> ExperimentPanel::cell_of(const std::string& knob, int64_t value) const {
  const auto found = cells_.find(knob);
  if (found == cells_.end()) return std::nullopt;
  const auto cell = std::ranges::find(found->second, value, &std::pair<int64_t, RailPlace>::first);
  return cell == found->second.end() ? std::nullopt : std::optional(cell->second);
}

// The rungs that run on the draft's device, then one line for those that do not.
void ExperimentPanel::draw_kernels(Context& context, const Kernel* kernel) {
  section("Kernel");
  if (!context.snapshot.kernels || context.snapshot.kernels->empty()) {
    wrapped("No kernel was found. Kernels are folders of .cu and .json files, given with --kernels.", palette().dim);
  } else {
    if (ImGui::GetWindowHeight() < em(kShortPanel))
      draw_kernel_combo(context, kernel);
    else
      draw_ladder(context, kernel);
  }
  draw_kernel_failures(context);
}

void ExperimentPanel::draw_ladder(Context& context, const Kernel* kernel) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, em(0.1f)});
  draw_others(context, kernel);
  ImGui::PopStyleVar();
}

// In a short panel the ladder is one line, so that the knobs stay visible.
void ExperimentPanel::draw_kernel_combo(Context& context, const Kernel* kernel) {
  const DeviceSpec* spec = session::find_device(context.snapshot, context.draft.current().device);
  const auto name_of = [](const Kernel& rung) {
    return (rung.rung > 0 ? std::to_string(rung.rung) : "\u00b7") + "  " + rung.title;
  };
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool open = ImGui::BeginCombo("##kernel", kernel != nullptr ? name_of(*kernel).c_str() : "choose a kernel",
                                      ImGuiComboFlags_HeightLarge);
  if (!open && kernel != nullptr) tooltip(kernel->story);
  if (!open) return;
  for (const Kernel& rung : *context.snapshot.kernels) {
    const Result<void> runs = spec != nullptr ? catalog::check_runs(rung, *spec) : Result<void>();
    const bool chosen = kernel != nullptr && kernel->id == rung.id;
    ImGui::PushID(rung.id.c_str());
    ImGui::PushStyleColor(ImGuiCol_Text, runs || chosen ? palette().text : palette().dim);
    if (ImGui::Selectable((name_of(rung) + "###rung").c_str(), chosen) && !chosen) take_kernel(context, rung, kernel);
    ImGui::PopStyleColor();
    tooltip(runs ? rung.story : joined(runs.error().message, runs.error().hint));
    ImGui::PopID();
  }
  ImGui::EndCombo();
}

void ExperimentPanel::take_kernel(Context& context, const Kernel& rung, const Kernel* from) {
  const DeviceSpec* spec = session::find_device(context.snapshot, context.draft.current().device);
  Draft wish = with_kernel(context.draft.current(), rung, last_asked(context.snapshot, rung.id), spec);
  const std::string change = "kernel " + (from != nullptr ? from->id : "") + " \u2192 " + rung.id;
  context.post(std::move(wish), {context.new_gesture(), true, change});
}

void ExperimentPanel::choose(Context& context, const std::string& kernel) {
  const Kernel* rung = session::find_kernel(context.snapshot, kernel);
  if (rung != nullptr)
    take_kernel(context, *rung, session::find_kernel(context.snapshot, context.draft.current().kernel));
}

void ExperimentPanel::draw_others(Context& context, const Kernel* kernel) {
  const DeviceSpec* spec = session::find_device(context.snapshot, context.draft.current().device);
  std::vector<std::pair<const Kernel*, Result<void>>> others;
  for (const Kernel& rung : *context.snapshot.kernels) {
    auto runs = spec != nullptr ? catalog::check_runs(rung, *spec) : Result<void>();
    if (runs || &rung == kernel)
      draw_rung(context, rung, kernel, runs);
    else
      others.emplace_back(&rung, std::move(runs));
  }
  if (others.empty()) return;
  const std::string words = fmt::format("{}  {} more, not for {}###others", others_open_ ? ICON_DOWN : ICON_RIGHT,
                                        others.size(), context.draft.current().device);
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  if (ImGui::Selectable(words.c_str(), false, 0, {0, em(1.6f)})) others_open_ = !others_open_;
  ImGui::PopStyleColor();
  ImGui::PopFont();
  tooltip("Libraries that only a GPU runs, and what their absence costs.");
  if (others_open_)
    for (const auto& [rung, runs] : others) draw_rung(context, *rung, kernel, runs);
}

void ExperimentPanel::draw_rung(Context& context, const Kernel& rung, const Kernel* kernel,
                                const Result<void>& runs) const {
  const bool chosen = kernel != nullptr && kernel->id == rung.id;
  ImGui::PushID(rung.id.c_str());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = em(1.7f);
  if (ImGui::Selectable("##rung", chosen, 0, {0, height}) && !chosen) take_kernel(context, rung, kernel);
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

// One line, however many there are: kernels that did not load must not push away the knobs of the loaded one.
void ExperimentPanel::draw_kernel_failures(const Context& context) {
  if (!context.snapshot.kernel_failures || context.snapshot.kernel_failures->empty()) return;
  const std::vector<Failure>& failures = *context.snapshot.kernel_failures;
  const std::string words = fmt::format(ICON_WARNING "  {} kernel{} did not load: {}###failures", failures.size(),
                                        failures.size() == 1 ? "" : "s", failures_open_ ? "hide why" : "see why");
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().bad);
  if (ImGui::Selectable(words.c_str(), false, 0, {0, em(1.6f)})) failures_open_ = !failures_open_;
  ImGui::PopStyleColor();
  ImGui::PopFont();
  if (!failures_open_) return;
  for (size_t at = 0; at < failures.size(); ++at)
    failure_box(failures[at], fmt::format("##kernel failure {}", at).c_str());
}

// Rebuilds the rows only when their inputs change, because evaluating the manifest's expressions for each value of each
// knob is too slow for every frame.
void ExperimentPanel::refresh_rows(const Context& context, const Kernel& kernel) {
  const Draft& draft = context.draft.current();
  Config config = draft.config;
  const DeviceSpec* spec = session::find_device(context.snapshot, draft.device);
  const std::string key = kernel.content_hash + "|" + to_json(draft.problem).dump() + "|" +
                          write_fields(config).dump() + "|" + draft.device + (spec != nullptr ? "" : "?");
  if (key == rows_of_) return;
  rows_of_ = key;
  rows_.clear();
  refused_.clear();
  for (const Knob& knob : kernel.knobs)
    if (!config.knobs.contains(knob.name)) config.knobs[knob.name] = knob.default_value;
  warnings_.clear();
  illegal_.reset();
  const DeviceSpec limits = spec != nullptr ? *spec : DeviceSpec{};
  const auto choices = catalog::choices(kernel, draft.problem, config, limits);
  for (const catalog::KnobChoice& choice : choices) {
    if (rows_.empty() || rows_.back().name != choice.knob) rows_.push_back({choice.knob, {}});
    std::string note = choice.legal ? std::string() : joined(choice.reason, choice.hint);
    for (const std::string& warning : choice.warnings)
      if (!shared_by_knob(choices, choice.knob, warning)) note = joined(note, warning);
    rows_.back().values.push_back({choice.value, choice.text, choice.legal, note, false});
    if (!choice.chosen) continue;
    if (!choice.legal && !illegal_) {
      const std::string blamed = choice.knob + "=" + choice.text + ": ";
      illegal_ = Refusal{choice.reason, choice.hint, {}};
      if (illegal_->reason.starts_with(blamed)) illegal_->reason.erase(0, blamed.size());
    }
    warnings_ = choice.warnings;
  }
  if (!illegal_) return;
  // No single knob is the cause, so the message names none, and rows where no value helps are dimmed.
  if (const auto way = catalog::way_out(kernel, draft.problem, config, limits)) {
    illegal_->hint = fmt::format("Set {} to {}.", way->knob, way->text);
    illegal_->remedy = {{way->knob, way->value}};
  } else if (const auto foretold = catalog::foretell_limits(kernel, draft.problem, config, limits); !foretold) {
    illegal_->hint = foretold.error().hint;
  }
  for (KnobRow& row : rows_) {
    const bool helps = std::any_of(row.values.begin(), row.values.end(), [](const RailValue& v) { return v.legal; });
    for (RailValue& value : row.values) value.moot = !helps;
  }
}

// Stores why the pressed value is not possible, and the other knobs that would have to change with it.
void ExperimentPanel::refuse(const Context& context, const Kernel& kernel, const std::string& knob,
                             const RailValue& value) {
  const Draft& draft = context.draft.current();
  const size_t line = value.reason.find('\n');  // the reason, then the catalog's advice
  Refusal refusal{value.reason.substr(0, line), line == std::string::npos ? "" : value.reason.substr(line + 1), {}};
  Config config = draft.config;
  config.knobs[knob] = value.value;
  const DeviceSpec* spec = session::find_device(context.snapshot, draft.device);
  if (const auto way = catalog::way_out(kernel, draft.problem, config, spec != nullptr ? *spec : DeviceSpec{}, knob))
    refusal.remedy = {{knob, value.value}, {way->knob, way->value}};
  refused_[knob] = std::move(refusal);
}

void ExperimentPanel::draw_knobs(Context& context, const Kernel& kernel) {
  section("Knobs");
  const Draft& draft = context.draft.current();
  const Draft own = with_own_knobs(draft, kernel);
  const bool as_they_are = draft.config == own.config;
  if (reset_of_section("reset knobs", as_they_are, "Sets every knob and compile option to its default."))
    context.post(own, {context.new_gesture(), true, "knobs and options reset"});
  refresh_rows(context, kernel);
  if (rows_.empty()) dim_text("This kernel has no knobs.");
  for (const KnobRow& row : rows_) draw_knob(context, kernel, row);
}

void ExperimentPanel::draw_knob(Context& context, const Kernel& kernel, const KnobRow& row) {
  const Knob* knob = kernel.find_knob(row.name);
  if (knob == nullptr) return;
  const Draft& draft = context.draft.current();
  const auto held = draft.config.knobs.find(row.name);
  const int64_t current = held != draft.config.knobs.end() ? held->second : knob->default_value;
  const float left = label_width();
  const bool reset = label_with_reset(context.glossary, row.name, knob->doc, left,
                                      current == knob->default_value ? "" : knob->text_of(knob->default_value));
  std::vector<RailValue> values = row.values;
  const auto invite = context.snapshot.invite.find(row.name);
  const bool invited = invite != context.snapshot.invite.end();
  bool legal_now = true;
  for (RailValue& value : values) {
    value.beckoned = invited && invites(context) && value.value == invite->second && value.legal;
    if (value.value == current) legal_now = value.legal;
  }
  const Scan* scan = scan_of(context.snapshot, draft, row.name);
  if (scan != nullptr) mark_values(values, series_of(*scan, draft, row.name));
  const float button = em(1.4f);
  RailEvent event =
      value_rail(row.name.c_str(), values, current, ImGui::GetContentRegionAvail().x - button, !legal_now);
  const ImVec2 low = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  draw_scan_button(context, *knob, scan, size.y);
  rails_[row.name] = {low.x, low.y, size.x, size.y};
  cells_[row.name] = std::move(event.in_sight);
  Drag& drag = drags_[row.name];
  if (event.pressed) drag = {context.new_gesture(), current};
  if (event.pressed && !event.refused) refused_.erase(row.name);  // pressing the current value also dismisses a refusal
  if (event.refused) refuse(context, kernel, row.name, values[*event.refused]);
  if (reset) return reset_knob(context, kernel, *knob, row);
  if (event.chosen) {
    refused_.erase(row.name);
    Draft wish = draft;
    wish.config.knobs[row.name] = *event.chosen;
    if (invited) context.settings.invited = true;
    context.post(std::move(wish), {drag.gesture, event.released, change_text(*knob, drag.from, *event.chosen)});
  } else if (event.released && drag.gesture != 0 && current != drag.from) {
    context.post(draft, {drag.gesture, true, change_text(*knob, drag.from, current)});
  }
}

// At the rail's right end: scans the knob to give every value a time.
void ExperimentPanel::draw_scan_button(Context& context, const Knob& knob, const Scan* scan, float height) {
  const std::string why = why_not_scanned(knob);
  const bool runs = scan != nullptr && !scan->over();
  ImGui::SameLine(0, 0);
  ImGui::PushID(knob.name.c_str());
  const bool pressed =
      icon_button("scan", runs ? ICON_CLOCK : ICON_CHART, {em(1.4f), height}, why.empty() && !runs, true);
  ImGui::PopID();
  if (!why.empty())
    tooltip(why);
  else if (runs)
    tooltip("Every value of " + knob.name + " is run, after what you do.");
  else
    tooltip("Runs every value of " + knob.name + " with the other knobs as they are: bars show each one's time.");
  if (pressed) ask_scan(context, knob.name);
}

// Resets the knob to the manifest's default, unless the other knobs prevent that from running.
void ExperimentPanel::reset_knob(Context& context, const Kernel& kernel, const Knob& knob, const KnobRow& row) {
  const auto own = std::find_if(row.values.begin(), row.values.end(),
                                [&](const RailValue& value) { return value.value == knob.default_value; });
  if (own == row.values.end()) return;
  if (!own->legal) return refuse(context, kernel, row.name, *own);
  refused_.erase(row.name);
  Draft wish = context.draft.current();
  const int64_t from = wish.config.knobs.contains(row.name) ? wish.config.knobs[row.name] : knob.default_value;
  wish.config.knobs[row.name] = knob.default_value;
  context.post(std::move(wish), {context.new_gesture(), true, change_text(knob, from, knob.default_value)});
}

std::unique_ptr<Panel> make_experiment_panel(const std::filesystem::path&) {
  return std::make_unique<ExperimentPanel>();
}

}  // namespace attnscope::ui
