#include "ui/presenter.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "charts/format.h"
#include "charts/words.h"
#include "core/config.h"
#include "ui/icons.h"
#include "ui/lesson_parts.h"
#include "ui/panels/experiment_panel.h"
#include "ui/widgets/headline.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using State = lesson::Progress::State;

constexpr float kLarger = 1.8f;                          // relative to the window's type, at the size below
constexpr float kUsualWidth = 1152, kUsualHeight = 720;  // pixels
constexpr float kLeastFit = 0.55f, kMostFit = 1.4f, kCloseFit = 0.04f;
constexpr int kSettlingFrames = 8;
constexpr float kUnseen = 0.01f;  // with alpha 0 the layout would be left out too
constexpr double kSpotSeconds = 3;
constexpr int kMostDigits = 9;

std::string step_of(const lesson::Progress& progress) {
  return fmt::format("{} {}", progress.lesson().id, progress.at());
}

void heading(std::string_view words, float size) {
  ImGui::PushFont(fonts().strong, size);
  wrapped(words, palette().text);
  ImGui::PopFont();
}

// The result of a run as text: its time, or why it has none.
struct Outcome {
  std::string words;
  ImU32 colour = 0;
  double us = 0;  // 0: it has no time
  FigureKind kind = FigureKind::modelled;
};

Outcome outcome_of(const Observation& run) {
  if (run.failure) return {std::string(ICON_WARNING "  ") + words_of(run.failure->stage), palette().bad};
  Outcome made{"not timed", palette().dim};
  if (run.timing)
    made = {charts::us_text(run.timing->p50) + "  " + std::string(to_string(run.timing->kind)), palette().text,
            run.timing->p50, run.timing->kind};
  if (const auto headline = headline_of(run); headline && is_fault(*headline)) {
    made.words += fmt::format("  {} {}", look_of(*headline).icon, to_string(*headline));
    made.colour = palette().bad;
  }
  return made;
}

}  // namespace

void Presenter::turn(bool on) {
  on_ = on;
  if (on) ImGui::SetNavCursorVisible(false);  // the arrow keys step through the lesson
  fitted_.clear();
  marked_.reset();
}

void Presenter::step(int direction, LessonDesk& desk, session::Session& session, const session::Snapshot& snapshot) {
  const lesson::Progress* progress = desk.progress();
  if (progress == nullptr) {
    const uint64_t shown = shown_of(snapshot).run;
    size_t at = snapshot.history.size;
    for (size_t i = 0; i < snapshot.history.size; ++i)
      if (snapshot.history.at(i).id == shown) at = i;
    if (direction < 0 && at == 0) return;
    at = direction < 0 ? at - 1 : at + 1;
    if (at >= snapshot.history.size) return;
    const uint64_t id = snapshot.history.at(at).id;
    return session.select_history(id == snapshot.focus.run ? 0 : id);
  }
  if (marked_of_ != step_of(*progress)) marked_.reset();
  marked_of_ = step_of(*progress);
  if (progress->state() == State::asks && (direction > 0 || marked_)) {
    const size_t last = progress->step().predict->choices.size() - 1;
    if (direction > 0)
      marked_ = marked_ ? std::min(*marked_ + 1, last) : 0;
    else if (*marked_ == 0)
      marked_.reset();
    else
      --*marked_;
  } else if (direction < 0) {
    desk.back();
  } else if (progress->state() == State::waits) {
    desk.run();
  } else {
    desk.next();
  }
}

std::string Presenter::why_not_taken(const LessonDesk& desk) const {
  if (!on_) return "Only in presenter mode.";
  const lesson::Progress* progress = desk.progress();
  if (progress == nullptr || progress->state() != State::asks) return "No question is open.";
  return marked_ && marked_of_ == step_of(*progress) ? "" : "No answer is marked.";
}

void Presenter::take_marked(LessonDesk& desk) {
  if (why_not_taken(desk).empty()) desk.choose(*marked_);
}

float Presenter::type_scale(ImVec2 size) const {
  return kLarger * fit_ * std::max(0.4f, std::min(size.y / kUsualHeight, size.x / kUsualWidth));
}

// Halves the range between type that fits and type that does not, from frame to frame: a frame is measured in the type
// that it began with. Content that grows later only makes the type smaller.
void Presenter::settle(const Context& context) {
  const lesson::Progress* progress = context.lesson.progress();
  const ImVec2 size = ImGui::GetMainViewport()->Size;
  const std::string now =
      fmt::format("{} {} {} {}", progress != nullptr ? step_of(*progress) : "", size.x, size.y, context.settings.zoom);
  const float measured = std::exchange(drawn_fit_, fit_);
  if (now != fitted_) {
    fitted_ = now;
    fit_ = 1;
    fits_ = kLeastFit;
    exceeds_ = progress != nullptr ? kMostFit : 1;
    settling_ = kSettlingFrames;
  } else if (measured == fit_ && settling_ < kSettlingFrames - 1) {
    if (overflow_ > 1 && fit_ <= fits_) fits_ = kLeastFit;
    (overflow_ > 1 ? exceeds_ : fits_) = fit_;
    const float next = exceeds_ - fits_ > kCloseFit ? (fits_ + exceeds_) / 2 : fits_;
    if (next != fit_) settling_ = std::max(settling_, 3);
    fit_ = next;
  }
  if (settling_ == 0) return;
  --settling_;
  context.wake_within(0.01);
}

void Presenter::begin_column(const char* name, ImVec2 size) {
  ImGui::BeginChild(name, size, ImGuiChildFlags_NavFlattened);
  ImGui::PushID(name);
}

void Presenter::end_column() {
  const float wanted = ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y;
  overflow_ = std::max(overflow_, (wanted + 1) / std::max(1.0f, ImGui::GetWindowHeight()));
  ImGui::PopID();
  ImGui::EndChild();
}

void Presenter::draw(Context& context, ExperimentPanel& controls, Panel& time) {
  // A knob that was clicked would take the arrow keys. Tab can still reach it.
  if (!ImGui::GetIO().NavVisible && !ImGui::IsAnyItemActive()) ImGui::GetCurrentContext()->NavId = 0;
  settle(context);
  overflow_ = 0;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const lesson::Progress* progress = context.lesson.progress();
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(em(1.3f), em(0.8f)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking |
                           ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus;
  if (progress != nullptr && progress->state() == State::asks) flags |= ImGuiWindowFlags_NoNav;  // arrows mark answers
  ImGui::Begin("Presenter", nullptr, flags);
  ImGui::PopStyleVar(2);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, settling_ > 1 && fit_ > kLeastFit ? kUnseen : 1.0f);
  if (progress != nullptr)
    draw_lesson(context, controls);
  else
    draw_run(context, controls, time);
  ImGui::PopStyleVar();
  ImGui::SetCursorPosY(ImGui::GetWindowHeight() - em(1.9f));
  draw_hints(context);
  ImGui::End();
  draw_spot(context);
}

void Presenter::draw_lesson(Context& context, ExperimentPanel& controls) {
  const lesson::Progress& progress = *context.lesson.progress();
  const std::string place = fmt::format("step {} of {}", progress.at() + 1, progress.lesson().steps.size());
  clipped(progress.lesson().title, ImGui::GetContentRegionAvail().x - width_of(place) - em(1), palette().dim);
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width_of(place));
  dim_text(place);
  heading(progress.step().title, kLargeSize * 0.8f);
  ImGui::Dummy({0, em(0.3f)});
  const float gap = em(1.5f), room = ImGui::GetContentRegionAvail().x;
  const float height = ImGui::GetContentRegionAvail().y - em(1.7f);
  begin_column("asked", {progress.step().run ? (room - gap) / 2 : room, height});
  draw_text(progress);
  if (progress.step().predict) draw_question(context.lesson);
  if (progress.may_go_on() && progress.step().goal) controls.draw_knobs_only(context);
  end_column();
  if (!progress.step().run) return;
  ImGui::SameLine(0, gap);
  begin_column("told", {0, height});
  if (progress.state() == State::asks) wrapped("The answer is shown after yours.", palette().dim);
  draw_waiting_run(context.lesson, busy_words(context.snapshot));
  draw_answer(progress);
  draw_runs(context, progress);
  draw_told(progress);
  end_column();
}

// Each answer is a line with its number, which is also its key.
void Presenter::draw_question(LessonDesk& desk) {
  const lesson::Progress& progress = *desk.progress();
  const lesson::Question& question = *progress.step().predict;
  if (marked_of_ != step_of(progress)) marked_.reset();
  heading(question.ask, 0);
  ImGui::Dummy({0, em(0.1f)});
  const bool asks = progress.state() == State::asks;
  const bool hears = !ImGui::GetIO().WantTextInput && !ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
  const float number = em(1.7f), pad = em(0.35f), room = ImGui::GetContentRegionAvail().x;
  for (size_t at = 0; at < question.choices.size(); ++at) {
    const std::string& words = question.choices[at].text;
    const bool chosen = progress.chosen() == at, marked = asks && marked_ == at;
    const ImVec2 size = ImGui::CalcTextSize(words.c_str(), nullptr, false, room - number - 2 * pad);
    const ImVec2 low = ImGui::GetCursorScreenPos(), high{low.x + room, low.y + size.y + 2 * pad};
    ImGui::BeginDisabled(!asks && !chosen);
    ImGui::PushID(static_cast<int>(at));
    const bool pressed = ImGui::InvisibleButton("##choice", {room, high.y - low.y});
    ImGui::PopID();
    const bool hovered = asks && ImGui::IsItemHovered();
    const float alpha = ImGui::GetStyle().Alpha;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 edge = with_alpha(marked || chosen ? palette().accent : palette().line, alpha);
    list->AddRectFilled(low, high, with_alpha(hovered || chosen ? palette().hover : palette().raised, alpha), em(0.3f));
    list->AddRect(low, high, edge, em(0.3f), marked || chosen ? std::max(2.0f, em(0.14f)) : 1.0f);
    ImGui::PushFont(fonts().strong, 0);
    const std::string digit = chosen ? ICON_CHECK : std::to_string(at + 1);
    list->AddText({low.x + (number - width_of(digit)) / 2, low.y + pad}, with_alpha(palette().accent, alpha),
                  digit.c_str());
    ImGui::PopFont();
    list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), {low.x + number, low.y + pad},
                  with_alpha(palette().text, alpha), words.c_str(), nullptr, room - number - 2 * pad);
    ImGui::EndDisabled();
    const bool key = hears && at < kMostDigits &&
                     (ImGui::IsKeyPressed(static_cast<ImGuiKey>(ImGuiKey_1 + static_cast<int>(at)), false) ||
                      ImGui::IsKeyPressed(static_cast<ImGuiKey>(ImGuiKey_Keypad1 + static_cast<int>(at)), false));
    if (asks && (pressed || key)) desk.choose(at);
  }
  ImGui::Dummy({0, em(0.3f)});
}

// A bar for each run whose figures may be shown, as long as its time.
void Presenter::draw_runs(const Context& context, const lesson::Progress& progress) {
  const auto runs = progress.told();
  if (runs.empty()) return;
  double most = 0;
  for (const auto& run : runs) most = std::max(most, outcome_of(*run.observation).us);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float alpha = ImGui::GetStyle().Alpha, room = ImGui::GetContentRegionAvail().x;
  for (const auto& run : runs) {
    const Outcome outcome = outcome_of(*run.observation);
    const Experiment& experiment = run.observation->experiment;
    const Kernel* kernel = session::find_kernel(context.snapshot, experiment.kernel);
    ImGui::PushFont(fonts().strong, 0);
    text(run.run != nullptr ? run.run->name : "now");
    ImGui::PopFont();
    ImGui::SameLine(0, em(0.5f));
    const std::string full = kernel != nullptr ? short_text(experiment.config, *kernel) : "";
    const std::string words = run.run != nullptr ? words_of(*run.run) : charts::config_words(experiment, kernel, full);
    const float figure = width_of(outcome.words);
    const float left = ImGui::GetCursorPosX();
    const bool one_line = left + width_of(words) + em(0.8f) + figure <= room;
    clipped(words, room - left, palette().dim);
    if (one_line) ImGui::SameLine();
    ImGui::SetCursorPosX(room - figure);
    ImGui::PushStyleColor(ImGuiCol_Text, outcome.colour);
    text(outcome.words);
    ImGui::PopStyleColor();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float thick = em(0.55f), longest = room;
    list->AddRectFilled(low, {low.x + longest, low.y + thick}, with_alpha(palette().raised, alpha), em(0.15f));
    if (outcome.us > 0)
      list->AddRectFilled(low, {low.x + std::max(em(0.2f), longest * f32(outcome.us / most)), low.y + thick},
                          with_alpha(colour_of(outcome.kind), alpha), em(0.15f));
    ImGui::Dummy({longest, thick + em(0.15f)});
  }
  ImGui::Dummy({0, em(0.3f)});
}

// The knobs on the left, as everywhere; the time with its runs, and the verdict, on the right.
void Presenter::draw_run(const Context& shown, ExperimentPanel& controls, Panel& time) {
  Context context = shown;
  const Kernel* kernel = session::find_kernel(context.snapshot, context.draft.current().kernel);
  heading(kernel != nullptr ? kernel->title : context.draft.current().kernel, kLargeSize * 0.8f);
  clipped(short_text(context.draft.current().problem) + " on " + context.draft.current().device,
          ImGui::GetContentRegionAvail().x, palette().dim);
  const float gap = em(1.5f), room = ImGui::GetContentRegionAvail().x;
  const float height = ImGui::GetContentRegionAvail().y - em(1.7f);
  ImGui::BeginChild("controls", {(room - gap) * 0.42f, height}, ImGuiChildFlags_NavFlattened);
  controls.draw_knobs_only(context);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginGroup();
  const Verdict* verdict = context.shown.verdict();
  ImGui::BeginChild("time", {0, height - em(verdict != nullptr ? 2.4f : 0)}, ImGuiChildFlags_AlwaysUseWindowPadding);
  time.draw(context);
  ImGui::EndChild();
  if (verdict != nullptr) {
    const Headline headline = *headline_of(*context.shown.observation);
    const HeadlineLook look = look_of(headline);
    ImGui::PushFont(fonts().strong, kMediumSize);
    ImGui::PushStyleColor(ImGuiCol_Text, look.colour);
    text(fmt::format("{}  {}", look.icon, to_string(headline)));
    ImGui::PopStyleColor();
    ImGui::PopFont();
  }
  if (const VariantInfo* variant = context.shown.variant()) {
    if (verdict != nullptr) ImGui::SameLine(0, em(1.2f));
    const std::string whose = charts::longest_launch_words(*context.shown.observation);
    dim_text(fmt::format("{} B of shared memory a CTA{}",
                         with_commas(variant->static_shared_bytes + variant->dynamic_shared_bytes),
                         whose.empty() ? "" : " of " + whose));
  }
  ImGui::EndGroup();
}

void Presenter::draw_hints(const Context& context) const {
  const lesson::Progress* progress = context.lesson.progress();
  std::string words = "Right: the next run   Left: the run before";
  if (progress != nullptr && progress->state() == State::asks)
    words = fmt::format("1 to {}: answer   Right: mark the next answer   Enter: take it",
                        progress->step().predict->choices.size());
  else if (progress != nullptr)
    words = progress->state() == State::waits ? "Right: run it   Left: back"
            : progress->is_last()             ? "The last step   Left: back"
                                              : "Right: go on   Left: back";
  small_text(shortened(words + "   Esc: leave", ImGui::GetContentRegionAvail().x), palette().dim);
}

// A ring around the pointer, which is small on a projector. It disappears when the pointer rests.
void Presenter::draw_spot(const Context& context) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsMousePosValid()) return;
  if (io.MousePos.x != spot_.x || io.MousePos.y != spot_.y) {
    spot_ = io.MousePos;
    rests_since_ = ImGui::GetTime();
  }
  if (ImGui::GetTime() - rests_since_ > kSpotSeconds) return;
  context.wake_within(kSpotSeconds + 0.05);
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const float radius = em(0.9f);
  list->AddCircleFilled(spot_, radius, with_alpha(palette().warn, 0.28f));
  list->AddCircle(spot_, radius, palette().warn, 0, std::max(2.0f, em(0.12f)));
}

}  // namespace attnscope::ui
