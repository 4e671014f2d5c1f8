#include "ui/workers_dialog.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ui/icons.h"
#include "ui/widgets/modal.h"
#include "ui/widgets/text.h"
#include "ui/worker_words.h"

namespace attnscope::ui {
namespace {

using session::WorkerState;

constexpr const char* kTitle = "Workers";
constexpr const char* kKeptKey = "workers";  // of the settings: {"l4box": "ssh l4box attnscope worker"}
constexpr float kList = 21;                  // ems of height

Json kept_workers(const Context& context) {
  const auto kept = context.snapshot.settings->find(kKeptKey);
  return kept != context.snapshot.settings->end() && kept->is_object() ? *kept : Json::object();
}

std::string state_words(const session::WorkerStatus& worker) {
  std::string words(to_string(worker.state));
  if (worker.round_trip_ms) words += ", " + round_trip_words(*worker.round_trip_ms) + " there and back";
  return words;
}

std::string version_words(const session::WorkerStatus& worker) {
  const Versions& v = worker.versions;
  std::string words = "attnscope " + v.app;
  if (!v.nvrtc.empty()) words += ", NVRTC " + v.nvrtc;
  return words + (v.driver.empty() ? ", no NVIDIA driver" : ", driver " + v.driver);
}

}  // namespace

void WorkersDialog::draw(Context& context) {
  if (std::exchange(opens_, false)) {
    where_.clear();
    name_.clear();
    ImGui::OpenPopup(kTitle);
  }
  if (!begin_modal(kTitle, 52)) return;
  wrapped("A worker compiles and runs kernels, on this machine or on one that ssh or another command reaches.",
          palette().dim);
  const float room = ImGui::GetMainViewport()->WorkSize.y * 0.9f - em(12);
  if (ImGui::BeginChild("workers", {0, std::min(em(kList), room)}, ImGuiChildFlags_Borders))
    for (const session::WorkerStatus& worker : context.snapshot.workers) draw_worker(context, worker);
  ImGui::EndChild();
  draw_new(context);
  end_modal();
}

void WorkersDialog::draw_worker(Context& context, const session::WorkerStatus& worker) {
  const bool first = &worker == &context.snapshot.workers.front();
  ImGui::PushID(worker.name.c_str());
  if (!first) ImGui::Separator();
  ImGui::AlignTextToFramePadding();
  draw_state_mark(worker.state);
  ImGui::PushFont(fonts().strong, 0);
  text(worker.name);
  ImGui::PopFont();
  ImGui::SameLine(0, em(0.7f));
  dim_text(state_words(worker));
  if (worker.round_trip_ms) tooltip("How long a greeting and its answer take, about every four seconds.");
  const bool lost = worker.state == WorkerState::lost;
  if (!first || lost) {
    const ImGuiStyle& style = ImGui::GetStyle();
    const auto width = [&](const char* words) { return width_of(words) + 2 * style.FramePadding.x; };
    ImGui::SameLine();
    const float wide = (lost ? width("Try again") + style.ItemSpacing.x : 0) + (first ? 0 : width("Remove"));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - wide);
    if (lost && ImGui::Button("Try again")) context.session.reconnect(worker.name);
    if (lost && !first) ImGui::SameLine();
    if (!first) {
      if (ImGui::Button("Remove")) remove(context, worker.name);
      tooltip(
          "Ends its link and what it runs, and takes it out of the settings. Nothing changes on the machine itself.");
    }
  }
  if (!first) {
    ImGui::PushFont(fonts().mono, kSmallSize);
    clipped(store::command_text(worker.command), ImGui::GetContentRegionAvail().x, palette().dim);
    ImGui::PopFont();
  }
  if (!worker.versions.app.empty()) small_text(version_words(worker), palette().dim);
  const bool able = worker.state == WorkerState::ready || worker.state == WorkerState::busy;
  if (!able && !worker.detail.empty())
    wrapped(ICON_WARNING "  " + worker.detail, worker.state == WorkerState::lost ? palette().bad : palette().warn);
  if (const std::string advice = advice_on(worker); !advice.empty()) wrapped(advice, palette().text);
  draw_devices(context, worker, first ? "" : worker.name + "/");
  ImGui::Dummy({0, em(0.2f)});
  ImGui::PopID();
}

void WorkersDialog::draw_devices(Context& context, const session::WorkerStatus& worker,
                                 const std::string& prefix) const {
  if (worker.devices.empty() ||
      !ImGui::BeginTable("devices", 4, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX))
    return;
  ImGui::TableSetupColumn("id", 0, 3);
  ImGui::TableSetupColumn("name", 0, 3.5f);
  ImGui::TableSetupColumn("now", 0, 4);
  ImGui::TableSetupColumn("use", ImGuiTableColumnFlags_WidthFixed);
  const auto cell = [](const std::string& words, ImU32 colour) {
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    clipped(words, ImGui::GetContentRegionAvail().x, colour);
  };
  for (const DeviceSpec& device : worker.devices) {
    const std::string id = prefix + device.id;
    const auto reading = std::ranges::find(worker.gpus, device.id, &GpuReading::device);
    cell(id, palette().text);
    cell(fmt::format("{}, sm_{}", device.name, device.arch), palette().dim);
    cell(device.emulated                ? "emulated"
         : reading == worker.gpus.end() ? "no reading yet"
                                        : words_of(*reading),
         palette().dim);
    if (!device.emulated) tooltip("Reported by the GPU; not read while something runs there.");
    ImGui::TableNextColumn();
    const Draft& draft = context.draft.current();
    const bool used = draft.device == id;
    ImGui::BeginDisabled(used);
    if (ImGui::SmallButton(fmt::format("{}###{} {}", used ? "in use" : "Use", worker.name, device.id).c_str())) {
      Draft wish = draft;
      wish.device = id;
      context.post(std::move(wish), {context.new_gesture(), true, "device " + draft.device + " \u2192 " + id});
    }
    ImGui::EndDisabled();
  }
  ImGui::EndTable();
}

// Says below the fields what will run, or why nothing can, before the button is pressed.
void WorkersDialog::draw_new(Context& context) {
  ImGui::PushFont(fonts().strong, 0);
  text("Add a worker");
  ImGui::PopFont();
  const ImGuiStyle& style = ImGui::GetStyle();
  const float button = width_of("Add") + 4 * style.FramePadding.x, name = em(10);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - name - 2 * style.ItemSpacing.x);
  bool entered = ImGui::InputTextWithHint("##where", "machine, or a command such as ssh l4box attnscope worker",
                                          &where_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(name);
  entered |= ImGui::InputTextWithHint("##name", "name, if another", &name_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const auto worker = store::worker_at(where_, name_);
  std::string why = where_.empty() ? "Its devices appear when it has answered." : "";
  if (!where_.empty() && !worker) why = worker.error().message + ". " + worker.error().hint;
  if (worker && std::ranges::find(context.snapshot.workers, worker->name, &session::WorkerStatus::name) !=
                    context.snapshot.workers.end())
    why = "There is already a worker " + worker->name + ": give this one another name.";
  ImGui::BeginDisabled(!worker || !why.empty());
  const bool pressed = ImGui::Button("Add", {button, 0});
  ImGui::EndDisabled();
  if (!why.empty())
    clipped(why, ImGui::GetContentRegionAvail().x, where_.empty() ? palette().dim : palette().warn);
  else
    clipped(fmt::format("Starts {}: {}", worker->name, store::command_text(worker->argv)),
            ImGui::GetContentRegionAvail().x, palette().dim);
  ImGui::Checkbox("also at the next start", &keeps_);
  tooltip("Kept in settings.json, where the other commands find it by its name: --worker NAME.");
  ImGui::SameLine();
  if (worker && why.empty() && (pressed || entered)) add(context, *worker);
}

void WorkersDialog::add(Context& context, const store::NamedWorker& worker) {
  const session::WorkerCommand command{worker.name, worker.argv, true};
  context.session.add_worker(command);
  if (keeps_) {
    Json kept = kept_workers(context);
    kept[worker.name] = store::command_text(worker.argv);
    context.session.set_setting(kKeptKey, std::move(kept));
  }
  if (changes_.added) changes_.added(command);
  where_.clear();
  name_.clear();
}

void WorkersDialog::remove(Context& context, const std::string& name) const {
  context.session.remove_worker(name);
  if (Json kept = kept_workers(context); kept.erase(name) > 0) context.session.set_setting(kKeptKey, std::move(kept));
  if (changes_.removed) changes_.removed(name);
}

}  // namespace attnscope::ui
