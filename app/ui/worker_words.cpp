#include "ui/worker_words.h"

#include <imgui_internal.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/joined.h"
#include "core/with_commas.h"
#include "store/workers.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

using session::LinkTrouble;
using session::WorkerState;

// The words before the worker's own: "ssh -p 22 l4box".
std::string way_there(const session::WorkerStatus& worker) {
  std::vector<std::string> words = worker.command;
  if (words.size() > 2 && words.back() == "worker") words.resize(words.size() - 2);
  return store::command_text(words);
}

}  // namespace

ImU32 colour_of(WorkerState state) {
  switch (state) {
    case WorkerState::ready:
      return palette().good;
    case WorkerState::busy:
      return palette().accent;
    case WorkerState::starting:
    case WorkerState::restarting:
      return palette().warn;
    case WorkerState::lost:
      return palette().bad;
  }
  return palette().dim;
}

void draw_state_mark(WorkerState state) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float r = em(0.26f);
  // The line's text stands lower if it is aligned with buttons.
  const float text_top = at.y + ImGui::GetCurrentWindow()->DC.CurrLineTextBaseOffset;
  const ImVec2 centre{at.x + r, text_top + ImGui::GetFontSize() * 0.55f};
  if (state == WorkerState::busy || state == WorkerState::ready)
    ImGui::GetWindowDrawList()->AddCircleFilled(centre, r, colour_of(state));
  else
    ImGui::GetWindowDrawList()->AddCircle(centre, r, colour_of(state), 0, std::max(1.5f, em(0.1f)));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + r * 2 + em(0.4f));
}

std::string advice_on(const session::WorkerStatus& worker) {
  const bool by_ssh = !worker.command.empty() && std::filesystem::path(worker.command.front()).filename() == "ssh";
  switch (worker.trouble) {
    case LinkTrouble::none:
      return {};
    case LinkTrouble::no_program:
      return "The program is not on this machine, or not on the PATH. Install it, or give its whole path.";
    case LinkTrouble::unreachable:
      return by_ssh ? "The machine was not reached. `" + way_there(worker) +
                          " true`, in a terminal, must end without a question: check the machine's name, the network, "
                          "and your ssh key or agent."
                    : "Run the command in a terminal to see what it says.";
    case LinkTrouble::no_worker:
      return by_ssh
                 ? "attnscope was not found there. Unpack a bundle on that machine (./dev bundle makes one) and give "
                   "the whole path: `" +
                       way_there(worker) + " PATH/bin/attnscope worker`."
                 : "The command did not find the program to run. Run it in a terminal to see why.";
    case LinkTrouble::other_version:
      return "Both machines need the same attnscope: ./dev bundle makes an archive to copy there.";
    case LinkTrouble::silent:
      return "The machine or the network may be down, or too slow. A queue that writes a line to stderr is waited for.";
    case LinkTrouble::ended:
      return "The Log panel has its last words.";
  }
  return {};
}

std::string words_of(const GpuReading& reading) {
  std::vector<std::string> words;
  if (reading.clock_mhz > 0) words.push_back(with_commas(static_cast<int64_t>(reading.clock_mhz)) + " MHz");
  if (reading.temperature_c > 0) words.push_back(fmt::format("{:.0f} \u00b0C", reading.temperature_c));
  if (reading.power_w > 0 && reading.power_limit_w > 0)
    words.push_back(fmt::format("{:.0f} of {:.0f} W", reading.power_w, reading.power_limit_w));
  else if (reading.power_w > 0)
    words.push_back(fmt::format("{:.0f} W", reading.power_w));
  words.insert(words.end(), reading.reasons.begin(), reading.reasons.end());
  return joined(words, {}, ", ");
}

std::string round_trip_words(double ms) { return fmt::format("{:g} ms", ms); }

}  // namespace attnscope::ui
