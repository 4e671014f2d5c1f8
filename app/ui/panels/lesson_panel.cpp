#include "ui/panels/lesson_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/joined.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kReading = 46;  // ems: longer lines are hard to read
constexpr float kWide = 50;     // ems: the question on the left, what came of it on the right

using State = lesson::Progress::State;

void begin_column(const char* name, float width) {
  ImGui::BeginChild(name, {width, 0});
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + std::min(em(kReading), ImGui::GetContentRegionAvail().x));
}

void end_column() {
  ImGui::PopTextWrapPos();
  ImGui::EndChild();
}

std::string run_text(const lesson::Run& run) {
  std::string words = "Run " + run.kernel;
  if (!run.set.empty()) words += " with " + joined(run.set, {}, " ");
  return words;
}

}  // namespace

std::optional<Observation> settled(const session::Focus& focus, bool watch) {
  if (focus.running || focus.wanted_hash.empty()) return std::nullopt;
  const auto timing = static_cast<size_t>(session::Part::timing);
  if (focus.failure) {
    Observation refused;
    if (focus.shown && hash_of(focus.shown->experiment) == focus.wanted_hash) refused = *focus.shown;
    refused.experiment = focus.wanted;
    refused.failure = focus.failure;
    return refused;
  }
  if (!focus.shown || focus.parts[timing] != session::PartState::fresh) return std::nullopt;
  const bool watched = focus.watch == session::WatchState::done || focus.watch == session::WatchState::failed;
  if (watch && !watched && !focus.shown->watch) return std::nullopt;
  return *focus.shown;
}

const char* LessonPanel::title() const { return kLessonTitle; }

void LessonPanel::draw(Context& context) {
  if (!progress_) return draw_list(context);
  follow(context);
  if (!draw_header()) return close();
  const float room = ImGui::GetContentRegionAvail().x;
  const bool wide = room > em(kWide);
  begin_column("step", wide ? room * 0.5f : 0);
  draw_figures(progress_->step().text);
  ImGui::Spacing();
  if (progress_->step().predict) draw_question(context);
  draw_run(context);
  if (wide) {
    end_column();
    ImGui::SameLine(0, em(1));
    begin_column("told", 0);
  }
  if (progress_->may_go_on() && progress_->step().run) {
    draw_answer();
    draw_figures(progress_->step().reveal);
    draw_goal();
  }
  end_column();
}

// Completed once for each run of the lesson, not in every frame.
const Result<Draft>& LessonPanel::draft_of(const Context& context, const lesson::Run& run) {
  const std::pair now{&run, context.snapshot.kernels};
  if (drafted_ == now) return draft_;
  drafted_ = now;
  draft_ = lesson::draft_of(progress_->lesson(), run, *context.snapshot.kernels);
  return draft_;
}

// The wanted run's end, and each later run of the learner's own.
void LessonPanel::follow(const Context& context) {
  const session::Focus& focus = context.snapshot.focus;
  const lesson::Run* run = progress_->wanted();
  if (run == nullptr || focus.wanted_hash == taken_ || context.draft.pending()) return;
  const Result<Draft>& draft = draft_of(context, *run);
  if (!draft || (progress_->state() == State::waits && !asks_for(*draft, focus.wanted))) return;
  if (const auto observation = settled(focus, run->watch)) {
    taken_ = focus.wanted_hash;
    progress_->take(*observation);
  }
}

void LessonPanel::start_run(Context& context) {
  const Result<Draft>& draft = draft_of(context, *progress_->wanted());
  fault_ = draft ? "" : draft.error().message;
  taken_.clear();
  if (draft) context.post(*draft, {.id = next_gesture(), .finished = true, .change = progress_->lesson().title});
}

void LessonPanel::draw_list(Context& context) {
  if (context.lessons.empty())
    return empty_state(ICON_LIGHTBULB, "There are no lessons", "They come with the program, in assets/lessons.");
  for (const lesson::Lesson& one : context.lessons) {
    ImGui::PushID(one.id.c_str());
    if (ImGui::Selectable("##open", false, ImGuiSelectableFlags_SpanAllColumns,
                          {0, 2 * ImGui::GetTextLineHeightWithSpacing()})) {
      progress_.emplace(one);
      drafted_.reset();  // it has other runs
      fault_.clear();
      taken_.clear();
    }
    const ImVec2 after = ImGui::GetCursorPos();
    ImGui::SetCursorPosY(after.y - 2 * ImGui::GetTextLineHeightWithSpacing() - ImGui::GetStyle().ItemSpacing.y);
    ImGui::PushFont(fonts().strong, 0);
    text(one.title);
    ImGui::PopFont();
    ImGui::SameLine();
    small_text(fmt::format("{} min, {} steps", one.minutes, one.steps.size()), palette().dim);
    small_text(shortened(one.summary, ImGui::GetContentRegionAvail().x), palette().dim);
    ImGui::SetCursorPos(after);
    ImGui::PopID();
  }
  ImGui::Dummy({0, 0});
}

bool LessonPanel::draw_header() {
  ImGui::BeginDisabled(progress_->at() == 0);
  if (ImGui::Button("Back")) progress_->back();
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::BeginDisabled(!progress_->may_go_on() || progress_->is_last());
  if (ImGui::Button("Next")) {
    progress_->next();
    fault_.clear();
    taken_.clear();
  }
  ImGui::EndDisabled();
  ImGui::SameLine();
  const bool leaves = ImGui::Button(progress_->is_last() && progress_->may_go_on() ? "Done###leave" : "Leave###leave");
  ImGui::SameLine(0, em(1));
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(fonts().strong, 0);
  text(fmt::format("{}. {}", progress_->at() + 1, progress_->step().title));
  ImGui::PopFont();
  ImGui::SameLine(0, em(1));
  small_text(fmt::format("{}, step {} of {}", progress_->lesson().title, progress_->at() + 1,
                         progress_->lesson().steps.size()),
             palette().dim);
  ImGui::Separator();
  return !leaves;
}

void LessonPanel::draw_question(Context& context) {
  const lesson::Question& question = *progress_->step().predict;
  ImGui::PushFont(fonts().strong, 0);
  wrapped(question.ask, palette().text);
  ImGui::PopFont();
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);  // an empty circle is seen on any ground
  ImGui::PushStyleColor(ImGuiCol_Border, palette().faint);
  for (size_t at = 0; at < question.choices.size(); ++at) {
    const bool chosen = progress_->chosen() == at;
    ImGui::BeginDisabled(progress_->state() != State::asks && !chosen);
    const bool picked = ImGui::RadioButton(question.choices[at].text.c_str(), chosen);
    ImGui::EndDisabled();
    if (!picked || progress_->state() != State::asks) continue;
    progress_->choose(at);
    start_run(context);
  }
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::Spacing();
}

void LessonPanel::draw_run(Context& context) {
  const lesson::Run* run = progress_->wanted();
  if (run == nullptr || progress_->state() != State::waits) return;
  if (!fault_.empty()) return wrapped(fault_, palette().bad);
  const Result<Draft>& draft = draft_of(context, *run);
  const bool asked = draft && (context.draft.pending() || asks_for(*draft, context.snapshot.focus.wanted));
  if (asked && (context.draft.pending() || context.snapshot.focus.running || run->watch))
    return dim_text("It runs\u2026");
  if (ImGui::Button((std::string(ICON_PLAY "  ") + run_text(*run) + "###run").c_str())) start_run(context);
}

void LessonPanel::draw_answer() {
  if (!progress_->step().predict || !progress_->chosen()) return;
  const auto right = progress_->right();
  if (!right) return wrapped(right.error().message, palette().bad);
  const bool met = *right == *progress_->chosen();
  const std::string& answer = progress_->step().predict->choices[*right].text;
  wrapped((met ? ICON_CHECK "  As you said: " : ICON_CLOSE "  You said otherwise. It is: ") + answer,
          met ? palette().good : palette().warn);
  ImGui::Spacing();
}

void LessonPanel::draw_goal() {
  const auto& goal = progress_->step().goal;
  if (!goal) return;
  ImGui::Spacing();
  ImGui::PushFont(fonts().strong, 0);
  const auto words = progress_->filled(goal->text);
  wrapped(words ? *words : words.error().message, palette().text);
  ImGui::PopFont();
  progress_->reached() ? wrapped(ICON_CHECK "  Reached.", palette().good)
                       : dim_text("Turn the knobs on the left; this notices when you are there.");
}

void LessonPanel::draw_figures(const std::string& words) {
  if (words.empty()) return;
  const auto filled = progress_->filled(words);
  wrapped(filled ? *filled : filled.error().message, filled ? palette().text : palette().bad);
}

std::unique_ptr<Panel> make_lesson_panel(const std::filesystem::path&) { return std::make_unique<LessonPanel>(); }

}  // namespace attnscope::ui
