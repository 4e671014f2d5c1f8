#include "ui/panels/source_editor.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "catalog/own_copy.h"
#include "ui/icons.h"
#include "ui/panels/code_panes.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/modal.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr const char* kRevert = "Revert the copy";
constexpr size_t kTab = 2;
constexpr int kFocusFrames = 8;
constexpr float kRoomForHeat = 50;  // ems from which a pane shows a column of heat beside the text

const TextEditor::Language* cuda() {
  static const TextEditor::Language language = [] {
    TextEditor::Language made = *TextEditor::Language::Cpp();
    made.name = "CUDA";
    for (const char* word : {"__global__", "__device__", "__shared__", "__constant__", "__host__", "__forceinline__",
                             "__restrict__", "__launch_bounds__", "half", "half2", "float2", "float4", "uint4", "int4"})
      made.declarations.insert(word);
    for (const char* word : {"threadIdx", "blockIdx", "blockDim", "gridDim", "__syncthreads", "__syncwarp"})
      made.identifiers.insert(word);
    return made;
  }();
  return &language;
}

TextEditor::Palette colours() {
  using Color = TextEditor::Color;
  const Palette& p = palette();
  TextEditor::Palette made;
  made.fill(p.text);
  const auto set = [&](Color colour, ImU32 value) { made[static_cast<size_t>(colour)] = value; };
  set(Color::keyword, p.reported);
  set(Color::declaration, p.measured);
  set(Color::number, p.counted);
  set(Color::string, p.modelled);
  set(Color::preprocessor, p.warn);
  set(Color::knownIdentifier, p.accent);
  set(Color::comment, p.dim);
  set(Color::background, p.panel);
  set(Color::cursor, p.accent);
  set(Color::selection, with_alpha(p.accent, 0.35f));
  set(Color::whitespace, p.line);
  set(Color::matchingBracketBackground, p.hover);
  for (const Color level : {Color::matchingBracketActive, Color::matchingBracketLevel1, Color::matchingBracketLevel2,
                            Color::matchingBracketLevel3})
    set(level, p.line);
  set(Color::matchingBracketError, p.bad);
  set(Color::lineNumber, p.faint);
  set(Color::currentLineNumber, p.text);
  set(Color::currentLineHighlight, with_alpha(p.accent, 0.08f));
  set(Color::currentLineHighlightBorder, with_alpha(p.accent, 0.3f));
  return made;
}

// The first line of a mark's text without the leading place, because it is shown at that place.
std::string_view in_short(std::string_view words) {
  words = words.substr(0, words.find('\n'));
  const size_t colon = words.find(".cu:");
  const size_t end = colon == std::string_view::npos ? colon : words.find(": ", colon);
  return end == std::string_view::npos ? words : words.substr(end + 2);
}

}  // namespace

SourceEditor::SourceEditor() {
  editor_.SetLanguage(cuda());
  editor_.SetTabSize(kTab);
  editor_.SetShowWhitespacesEnabled(false);
  editor_.SetShowMatchingBrackets(false);             // its lines and colours would hide those of the figures
  editor_.SetShowCurrentLineHighlightEnabled(false);  // it is drawn as if the window were at the screen's left edge
  editor_.SetCompletePairedGlyphs(false);
  editor_.SetShowScrollbarMiniMapEnabled(false);
  editor_.SetShowPanScrollIndicatorEnabled(false);
  editor_.SetTransactionCallback([this](const std::vector<TextEditor::Change>&) { changed_ = true; });
}

void SourceEditor::edit(Context& context, const Kernel& kernel, const Draft& draft, int64_t line) {
  focus_frames_ = kFocusFrames;
  if (is_of(kernel)) {
    closing_ = false;
    next_.reset();
  } else if (copy_asked_ == 0) {
    begin(context, kernel, draft, line);
  }
}

void SourceEditor::begin(Context& context, const Kernel& kernel, const Draft& draft, int64_t line) {
  close(context.session);
  if (is_open()) {
    next_ = Next{kernel.id, draft, line};
    return;
  }
  if (context.snapshot.originals->contains(kernel.id)) return open(kernel, line);
  copy_asked_ = next_gesture();
  copy_line_ = line;
  context.session.copy_kernel(copy_asked_, draft);
}

void SourceEditor::open(const Kernel& kernel, int64_t line) {
  editor_.SetInsertSpacesOnTabs(false);  // keeps the file's own
  editor_.SetText(kernel.source);
  editor_.SetInsertSpacesOnTabs(true);
  edits_.open(kernel.id, kernel.source, editor_.GetText());
  marks_.clear();
  cursor_line_ = 0;
  show_line(std::max<int64_t>(line, 1));
  focus_frames_ = kFocusFrames;
}

void SourceEditor::show_line(int64_t line) {
  if (line < 1) return;
  editor_.SetCursor({static_cast<size_t>(line - 1), 0});
  editor_.ScrollToLine(static_cast<size_t>(line - 1));
}

void SourceEditor::save_now(session::Session& session) {
  edits_.try_again();
  if (auto save = edits_.due(ImGui::GetTime(), true, next_gesture())) session.save_source(std::move(*save));
}

void SourceEditor::save_at_end(session::Session& session) {
  if (is_stuck())
    session.note(session::LogLevel::warning,
                 edits_.kernel() + ": the window closes, and what was typed last may not be in its file");
  save_now(session);
}

void SourceEditor::close(session::Session& session) {
  next_.reset();
  save_now(session);
  closing_ = edits_.unsaved();
  if (!closing_) discard();
}

void SourceEditor::discard() {
  edits_ = {};
  closing_ = false;
}

void SourceEditor::take(const std::string& text) {
  editor_.ReplaceSectionText({0, 0}, {editor_.GetLineCount(), 0}, text);
  marks_.clear();  // the marks were attached to the old lines
  changed_ = false;
}

void SourceEditor::follow(Context& context) {
  const session::Snapshot& snapshot = context.snapshot;
  if (copy_asked_ != 0 && snapshot.copied.id == copy_asked_) {
    copy_asked_ = 0;
    const Kernel* copy = session::find_kernel(snapshot, snapshot.copied.kernel);
    if (copy != nullptr && snapshot.originals->contains(copy->id)) begin(context, *copy, {}, copy_line_);
  }
  if (!is_open()) return;
  const Kernel* kernel = session::find_kernel(snapshot, edits_.kernel());
  if (edits_.observe(kernel != nullptr ? kernel->source : edits_.source(), snapshot.saved) == SourceEdits::News::take)
    take(edits_.text());
  if (is_stuck()) {
    closing_ = false;
    next_.reset();
  }
  if (closing_ && !edits_.unsaved()) {
    discard();
    const auto next = std::exchange(next_, std::nullopt);
    const Kernel* wanted = next ? session::find_kernel(snapshot, next->kernel) : nullptr;
    if (wanted != nullptr) begin(context, *wanted, next->draft, next->line);
    return;
  }
  const double now = ImGui::GetTime();
  if (auto save = edits_.due(now, false, next_gesture())) context.session.save_source(std::move(*save));
  if (const double wait = edits_.wait(now); wait > 0) context.wake_within(wait);
}

int64_t SourceEditor::draw(Context& context, const Kernel& kernel, const std::vector<SourceMark>& marks,
                           const CodeState& code) {
  if (!themed_ || theme_ != theme_mode()) editor_.SetPalette(colours());
  themed_ = true;
  theme_ = theme_mode();
  if (marks != marks_) put_marks(marks);
  if (focus_frames_ > 0 && focus_frames_-- > 0) {
    editor_.SetFocus();
    context.wake_within(0.02);
  }
  ImGui::PushFont(fonts().mono, kSmallSize);
  // The column keeps its space even if there are no figures, so that the text stays in place. A narrow pane has no
  // column.
  const bool roomy = ImGui::GetContentRegionAvail().x > em(kRoomForHeat);
  const bool heat = roomy && is_as_in(kernel) && code.view().has(code.column);
  const float gutter = em(1.4f) + (roomy ? heat_width({code.column}) : 0);
  editor_.SetLineDecorator(static_cast<size_t>(std::ceil(gutter / width_of("0"))),
                           [&](const TextEditor::Decorator& line) { decorate(line, marks_, heat ? &code : nullptr); });
  editor_.Render("##editor", {0, 0});
  if (std::exchange(changed_, false)) edits_.typed(editor_.GetText(), ImGui::GetTime());
  editor_.ClearLineDecorator();  // it captures this frame's code
  ImGui::PopFont();
  if (ImGui::Shortcut(ImGuiMod_Ctrl | ImGuiKey_S)) save_now(context.session);
  if (ImGui::Shortcut(ImGuiKey_Escape)) close(context.session);
  const auto line = static_cast<int64_t>(editor_.GetMainCursorPosition().line) + 1;
  return std::exchange(cursor_line_, line) == line ? 0 : line;
}

// A mark is attached to its line and moves with it. The number identifies the mark, from 1.
void SourceEditor::put_marks(const std::vector<SourceMark>& marks) {
  std::vector<size_t> old;
  editor_.IterateUserData([&](size_t line, void*) { old.push_back(line); });
  for (const size_t line : old) editor_.SetUserData(line, nullptr);
  marks_ = marks;
  for (size_t at = 0; at < marks_.size(); ++at)
    if (const auto line = static_cast<size_t>(marks_[at].line - 1); line < editor_.GetLineCount())
      editor_.SetUserData(line, reinterpret_cast<void*>(at + 1));  // NOLINT(performance-no-int-to-ptr)
}

// Draws a line's figure and its messages: a background, a sign in the gutter, the text after its end.
void SourceEditor::decorate(const TextEditor::Decorator& line, const std::vector<SourceMark>& marks,
                            const CodeState* code) const {
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  if (code != nullptr) heat_cells(*code, {code->column}, true, line.line, {pen.x + em(1.4f), pen.y});
  const auto number = reinterpret_cast<size_t>(editor_.GetUserData(line.line));
  if (number == 0 || number > marks.size()) return;
  const SourceMark& mark = marks[number - 1];
  const ImU32 colour = mark.error ? palette().bad : palette().warn;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = ImGui::GetWindowPos().x, right = left + ImGui::GetWindowWidth();
  list->AddRectFilled({left, pen.y}, {right, pen.y + line.height}, with_alpha(colour, 0.14f));
  list->AddText(pen, colour, ICON_WARNING);
  const size_t length = editor_.GetLineText(line.line).size();
  const float end = editor_.DocPos2ScreenPos({line.line, length}).x;
  const std::string words(in_short(mark.words));
  if (end < right) {
    list->PushClipRect({pen.x + line.width, pen.y}, {right, pen.y + line.height}, true);
    list->AddText({end + em(1.5f), pen.y}, colour, words.c_str());
    list->PopClipRect();
  }
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect({left, pen.y}, {right, pen.y + line.height})) return;
  text_tooltip(mark.words, 28);
}

void SourceEditor::draw_bar(Context& context, const Kernel& kernel, const std::vector<SourceMark>& marks) {
  ImGui::PushFont(nullptr, kSmallSize);
  const float buttons = width_of("Revert\u2026") + width_of("Done") + em(3.2f);
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  ImGui::BeginGroup();
  const bool asks = draw_state(kernel, marks);
  ImGui::EndGroup();
  ImGui::SameLine();
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), right - buttons));
  const auto original = context.snapshot.originals->find(kernel.id);
  const bool same =
      original == context.snapshot.originals->end() || (!edits_.unsaved() && original->second == edits_.file());
  ImGui::BeginDisabled(same || asks);
  if (ImGui::SmallButton("Revert\u2026")) ImGui::OpenPopup(kRevert);
  ImGui::EndDisabled();
  tooltip(same ? "The text is the original's." : "Back to what was copied; Ctrl+Z brings the edits back.");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::SmallButton("Done")) close(context.session);
  tooltip("Leaves the editor (Esc). What is typed is saved.");
  ImGui::PopFont();
  draw_revert(context, kernel);
}

// Returns true if a person has to make a choice first.
bool SourceEditor::draw_state(const Kernel& kernel, const std::vector<SourceMark>& marks) {
  const float room = std::max(em(30), ImGui::GetContentRegionAvail().x);
  ImGui::AlignTextToFramePadding();
  if (is_stuck()) {
    const bool choose = edits_.conflict();
    draw_trouble(room);
    return choose;
  }
  const auto error = std::ranges::find(marks, true, &SourceMark::error);
  const float rest = room - em(12);
  if (edits_.unsaved()) {
    clipped("It runs when you pause.", rest, palette().dim);
  } else if (error != marks.end()) {
    clipped("line " + std::to_string(error->line) + ": " + std::string(in_short(error->words)), rest, palette().bad);
  } else {
    clipped("Edits run by themselves. They are in " + catalog::source_file(kernel).string(), rest, palette().dim);
  }
  return false;
}

void SourceEditor::draw_trouble(float room) {
  if (edits_.conflict()) {
    clipped("Another program changed the file while you typed. Nothing is written until you choose:", room - em(24),
            palette().warn);
    ImGui::SameLine(0, em(0.5f));
    if (ImGui::SmallButton("Keep mine")) edits_.keep_mine();
    tooltip("Your text replaces what the file holds now.");
    ImGui::SameLine(0, em(0.4f));
    if (ImGui::SmallButton("Take the file's")) {
      edits_.take_theirs();
      take(edits_.text());
    }
    tooltip("The file's text replaces yours; Ctrl+Z brings yours back.");
  } else if (const auto failure = edits_.failure()) {
    clipped("Not saved: " + failure->message + " " + failure->hint, room - em(26), palette().bad);
    ImGui::SameLine(0, em(0.5f));
    if (ImGui::SmallButton("Try again")) edits_.try_again();
    ImGui::SameLine(0, em(0.4f));
    if (ImGui::SmallButton("Discard")) discard();
    tooltip("Leaves the editor without what was typed since the last save.");
  }
}

void SourceEditor::draw_stuck() {
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::AlignTextToFramePadding();
  ui::text(edits_.kernel() + ":");
  ImGui::SameLine(0, em(0.5f));
  const std::string typed = edits_.text();
  draw_trouble(std::max(em(40), ImGui::GetContentRegionAvail().x));
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::SmallButton("Copy text")) copy(typed);
  tooltip("What the editor holds, to be put elsewhere.");
  ImGui::PopFont();
}

void SourceEditor::draw_revert(const Context& context, const Kernel& kernel) {
  if (!begin_modal(kRevert, 30)) return;
  wrapped("All edits of " + kernel.source_name + " are replaced by the source that it was copied from. " +
              "Ctrl+Z in the editor brings them back until you leave it.",
          palette().text);
  const auto original = context.snapshot.originals->find(kernel.id);
  if (ImGui::Button("Revert") && original != context.snapshot.originals->end()) {
    take(original->second);
    edits_.typed(editor_.GetText(), ImGui::GetTime() - SourceEdits::kPause);
    show_line(1);
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  end_modal("Cancel");
}

}  // namespace attnscope::ui
