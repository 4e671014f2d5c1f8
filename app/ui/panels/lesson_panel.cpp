#include "ui/panels/lesson_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ui/icons.h"
#include "ui/lesson_parts.h"
#include "ui/panels/panels.h"
#include "ui/strip_height.h"
#include "ui/widgets/control_label.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kReading = 46;  // ems: longer lines are hard to read
constexpr float kWide = 50;     // ems: the question on the left, what came of it on the right
constexpr float kFlat = 14;     // ems of height: less than a text with a question and its answers needs
constexpr float kThree = 55;    // ems: in a flat panel the question has a column of its own
constexpr float kRoom = 21;     // ems of height: a step with its question, its answers and what came of it
constexpr size_t kMostWords = 8;
constexpr const char* kDoneKey = "lessons";  // of the settings: {"04_idle_warps": true}

using State = lesson::Progress::State;

// `fresh`: the step has just opened and is shown from its top.
void begin_column(const char* name, float width, bool fresh) {
  ImGui::BeginChild(name, {width, 0});
  if (fresh) ImGui::SetScrollY(0);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + std::min(em(kReading), ImGui::GetContentRegionAvail().x));
}

void end_column() {
  ImGui::PopTextWrapPos();
  ImGui::EndChild();
}

bool is_done(const Context& context, const std::string& id) {
  if (!context.snapshot.settings) return false;
  const auto kept = context.snapshot.settings->find(kDoneKey);
  return kept != context.snapshot.settings->end() && kept->is_object() && kept->contains(id);
}

bool is_at_its_end(const lesson::Progress& progress) {
  return progress.is_last() && progress.may_go_on() && (!progress.step().goal || progress.reached());
}

// An answer in as many lines as it needs.
std::string in_lines(const std::string& words, float width) {
  if (width_of(words) <= width) return words;
  std::string lines, line;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = words.substr(at, end - at);
    if (!line.empty() && width_of(line + " " + word) > width) lines += std::exchange(line, "") + "\n";
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines + line + "###" + words;
}

}  // namespace

const char* LessonPanel::title() const { return kLessonTitle; }

void LessonPanel::draw(Context& context) {
  LessonDesk& desk = context.lesson;
  if (desk.progress() == nullptr) return draw_list(context);
  if (!draw_header(desk)) return desk.close();
  const lesson::Progress& progress = *desk.progress();
  keep_done(context);
  const float room = ImGui::GetContentRegionAvail().x;
  const bool flat = ImGui::GetContentRegionAvail().y < em(kFlat);
  const bool asks = progress.step().predict.has_value(), three = asks && flat && room > em(kThree);
  const bool wide = room > em(kWide);
  const float column = (room - em(three ? 2 : 1)) / (three ? 3.0f : 2.0f);
  const bool fresh = std::exchange(shown_step_, progress.step().title) != progress.step().title;
  const auto next_column = [fresh](const char* name, float width) {
    end_column();
    ImGui::SameLine(0, em(1));
    begin_column(name, width, fresh);
  };
  begin_column("step", wide ? column : 0, fresh);
  draw_text(progress);
  const lesson::Step& step = progress.step();
  const std::string asked = step.text + (step.predict ? "\n" + step.predict->ask : "");
  draw_terms(context.glossary, asked);
  if (three) next_column("question", column);
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding.x, flat ? em(0.08f) : padding.y});
  if (asks) draw_question(desk);
  ImGui::PopStyleVar();
  // The progress is shown where the answer will appear, at the top.
  if (wide) next_column("told", 0);
  draw_waiting_run(desk, busy_words(context.snapshot));
  draw_answer(progress);
  draw_told(progress);
  if (progress.may_go_on() && step.run) draw_terms(context.glossary, step.reveal, asked);
  end_column();
}

// A finished lesson stays marked in the list.
void LessonPanel::keep_done(Context& context) {
  const lesson::Progress& progress = *context.lesson.progress();
  const std::string& id = progress.lesson().id;
  if (!is_at_its_end(progress) || kept_done_ == id) return;
  kept_done_ = id;
  if (is_done(context, id)) return;
  Json done = Json::object();
  for (const lesson::Lesson& one : context.lessons)
    if (one.id == id || is_done(context, one.id)) done[one.id] = true;
  context.session.set_setting(kDoneKey, std::move(done));
}

void LessonPanel::draw_list(Context& context) {
  if (context.lessons.empty())
    return empty_state(ICON_LIGHTBULB, "There are no lessons", "They come with the program, in assets/lessons.");
  for (size_t at = 0; at < context.lessons.size(); ++at) {
    const lesson::Lesson& one = context.lessons[at];
    ImGui::PushID(one.id.c_str());
    if (ImGui::Selectable("##open", false, ImGuiSelectableFlags_SpanAllColumns,
                          {0, 2 * ImGui::GetTextLineHeightWithSpacing()})) {
      context.lesson.open(one);
      make_room(kLessonTitle, kRoom);
    }
    const ImVec2 after = ImGui::GetCursorPos();
    ImGui::SetCursorPosY(after.y - 2 * ImGui::GetTextLineHeightWithSpacing() - ImGui::GetStyle().ItemSpacing.y);
    ImGui::PushFont(fonts().strong, 0);
    text(fmt::format("{}. {}", at + 1, one.title));
    ImGui::PopFont();
    ImGui::SameLine();
    small_text(fmt::format("{} min, {} steps", one.minutes, one.steps.size()), palette().dim);
    if (is_done(context, one.id)) {
      ImGui::SameLine();
      small_text(ICON_CHECK "  done", palette().good);
    }
    small_text(shortened(one.summary, ImGui::GetContentRegionAvail().x), palette().dim);
    ImGui::SetCursorPos(after);
    ImGui::PopID();
  }
  ImGui::Dummy({0, 0});
}

bool LessonPanel::draw_header(LessonDesk& desk) {
  const lesson::Progress& progress = *desk.progress();
  ImGui::BeginDisabled(progress.at() == 0);
  if (ImGui::Button("Back")) desk.back();
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::BeginDisabled(!progress.may_go_on() || progress.is_last());
  if (leading_button("Next")) desk.next();
  ImGui::EndDisabled();
  ImGui::SameLine(0, em(1));
  // At the far end: beside Next it is pressed by mistake.
  const bool done = is_at_its_end(progress);
  const char* const end = done ? "Done###leave" : "Leave###leave";
  const float width = width_of(done ? "Done" : "Leave") + 2 * ImGui::GetStyle().FramePadding.x;
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width;
  const auto room = [&] { return right - ImGui::GetCursorPosX() - em(1); };
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(fonts().strong, 0);
  clipped(fmt::format("{}. {}", progress.at() + 1, progress.step().title), room(), palette().text);
  ImGui::PopFont();
  ImGui::SameLine(0, em(1));
  ImGui::PushFont(nullptr, kSmallSize);
  const std::string place =
      fmt::format("{}, step {} of {}", progress.lesson().title, progress.at() + 1, progress.lesson().steps.size());
  if (room() > em(3)) clipped(place, room(), palette().dim);
  ImGui::PopFont();
  ImGui::SameLine(right);
  const bool leaves = done ? leading_button(end) : ImGui::Button(end);
  ImGui::Separator();
  return !leaves;
}

void LessonPanel::draw_terms(const Glossary& glossary, const std::string& said, const std::string& known) {
  std::vector<Glossary::Found> words = glossary.words_in(said);
  for (const Glossary::Found& one : glossary.words_in(known))
    std::erase_if(words, [&](const Glossary::Found& word) { return word.word == one.word; });
  if (words.empty()) return;
  ImGui::PushFont(nullptr, kSmallSize);
  for (size_t at = 0; at < std::min(words.size(), kMostWords); ++at) {
    const float wide = width_of(words[at].written);
    if (at > 0) ImGui::SameLine(0, em(0.9f));
    if (at > 0 && ImGui::GetContentRegionAvail().x < wide) ImGui::NewLine();
    term(glossary, words[at].word, words[at].written, palette().dim);
  }
  ImGui::PopFont();
  ImGui::Spacing();
}

void LessonPanel::draw_question(LessonDesk& desk) {
  const lesson::Progress& progress = *desk.progress();
  const lesson::Question& question = *progress.step().predict;
  ImGui::PushFont(fonts().strong, 0);
  wrapped(question.ask, palette().text);
  ImGui::PopFont();
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);  // an empty circle is visible on any background
  ImGui::PushStyleColor(ImGuiCol_Border, palette().faint);
  for (size_t at = 0; at < question.choices.size(); ++at) {
    const bool chosen = progress.chosen() == at;
    ImGui::BeginDisabled(progress.state() != State::asks && !chosen);
    const float room =
        ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight() - ImGui::GetStyle().ItemInnerSpacing.x;
    const bool picked = ImGui::RadioButton(in_lines(question.choices[at].text, room).c_str(), chosen);
    ImGui::EndDisabled();
    if (picked) desk.choose(at);
  }
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::Spacing();
}

std::unique_ptr<Panel> make_lesson_panel(const std::filesystem::path&) { return std::make_unique<LessonPanel>(); }

}  // namespace attnscope::ui
