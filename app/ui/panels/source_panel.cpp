#include "ui/panels/source_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "charts/watch_rows.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

void mark(std::map<int64_t, SourceMark>& marks, int64_t line, bool error, const std::string& words) {
  SourceMark& one = marks[line];
  one.line = line;
  one.error |= error;
  if (one.words.find(words) == std::string::npos) one.words += (one.words.empty() ? "" : "\n\n") + words;
}

int64_t number_at(std::string_view words) {
  int64_t number = 0;
  std::from_chars(words.data(), words.data() + words.size(), number);
  return number;
}

// "02_tiled.cu:203" wherever it occurs in the text.
void mark_named(std::map<int64_t, SourceMark>& marks, const std::string& words, const std::string& file) {
  const std::string name = file + ":";
  for (size_t at = words.find(name); at != std::string::npos; at = words.find(name, at + 1))
    if (const int64_t line = number_at(std::string_view(words).substr(at + name.size())); line > 0)
      mark(marks, line, true, words);
}

void mark_finding(std::map<int64_t, SourceMark>& marks, const Finding& finding, const std::string& file) {
  for (const auto& [file_key, line_key] : {std::pair{"file", "line"}, {"other_file", "other_line"}}) {
    const auto where = finding.where.find(file_key), line = finding.where.find(line_key);
    if (line == finding.where.end() || where == finding.where.end() || where->second != file) continue;
    if (const int64_t number = number_at(line->second); number > 0)
      mark(marks, number, finding.severity == Severity::error, finding.sentence);
  }
}

}  // namespace

std::vector<SourceMark> source_marks(const Observation& seen, const Failure* failure, const std::string& source_name) {
  std::map<int64_t, SourceMark> marks;
  for (const Finding& finding : seen.findings) mark_finding(marks, finding, source_name);
  if (seen.watch)
    for (const Finding& finding : seen.watch->findings) mark_finding(marks, finding, source_name);
  if (failure != nullptr) mark_named(marks, failure->message, source_name);
  std::vector<SourceMark> sorted;
  for (auto& [line, one] : marks) sorted.push_back(std::move(one));
  return sorted;
}

void SourcePanel::show_line(int64_t line) {
  chosen_ = line;
  reveal_ = true;
}

void SourcePanel::draw(Context& context) {
  const bool ran = context.shown.from_history() && context.shown.observation;
  const std::string& id = ran ? context.shown.observation->experiment.kernel : context.draft.current().kernel;
  const Kernel* kernel = session::find_kernel(context.snapshot, id);
  if (kernel == nullptr) return empty_state(ICON_CODE, "No kernel", "Choose one on the left.");
  if (kernel->source.empty())
    return empty_state(ICON_CODE, "A routine of " + kernel->library.name(), "Its source is not available.");
  refresh(context, *kernel);
  draw_header(context, *kernel);
  draw_lines();
}

void SourcePanel::refresh(const Context& context, const Kernel& kernel) {
  if (lines_of_ != kernel.content_hash) {
    lines_of_ = kernel.content_hash;
    text_ = kernel.source;
    lines_.clear();
    comment_.clear();
    marks_of_ = nullptr;
    bool inside = false;  // a comment of several lines
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::string_view words = trimmed(line);
      const bool opens = words.starts_with("/*");
      lines_.push_back(line);
      comment_.push_back(inside || opens || words.starts_with("//"));
      if (inside || opens) inside = line.find("*/") == std::string_view::npos;
    }
    if (chosen_ > static_cast<int64_t>(lines_.size())) chosen_ = 0;
  }
  const Failure* failure = context.shown.failure();
  const std::string words = failure != nullptr ? failure->message : "";
  const Observation* seen = context.shown.observation.get();
  if (seen == marks_of_ && words == failure_of_) return;
  marks_of_ = seen;
  failure_of_ = words;
  const bool its = seen != nullptr && seen->experiment.kernel_hash == kernel.content_hash;
  marks_ = source_marks(its ? *seen : Observation{}, failure, kernel.source_name);
}

void SourcePanel::step(int direction) {
  if (marks_.empty()) return;
  const auto after = std::find_if(marks_.begin(), marks_.end(), [&](const SourceMark& m) { return m.line >= chosen_; });
  std::ptrdiff_t at = after - marks_.begin();
  const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(marks_.size());
  const bool on_one = at < count && marks_[static_cast<size_t>(at)].line == chosen_;
  at = direction > 0 ? (on_one ? at + 1 : at) : at - 1;
  show_line(marks_[static_cast<size_t>((at + count) % count)].line);
}

void SourcePanel::draw_header(const Context& context, const Kernel& kernel) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(fonts().strong, 0);
  text(kernel.source_name);
  ImGui::PopFont();
  ImGui::SameLine(0, em(0.8f));
  const Observation* seen = context.shown.observation.get();
  if (seen != nullptr && seen->experiment.kernel == kernel.id && seen->experiment.kernel_hash != kernel.content_hash) {
    small_text("edited since the shown run", palette().warn);
    ImGui::SameLine(0, em(0.8f));
  }
  if (marks_.empty()) {
    small_text("no finding names one of its lines", palette().dim);
  } else {
    if (ImGui::SmallButton("<##before")) step(-1);
    tooltip("The marked line before");
    ImGui::SameLine(0, em(0.3f));
    if (ImGui::SmallButton(">##after")) step(1);
    tooltip("The next marked line");
    ImGui::SameLine(0, em(0.5f));
    dim_text(fmt::format("{} marked line{}", marks_.size(), marks_.size() == 1 ? "" : "s"));
  }
  ImGui::SameLine();
  const float wide = width_of("copy") + em(1.2f), room = ImGui::GetContentRegionAvail().x;
  if (room > wide) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - wide);
  if (ImGui::SmallButton("copy")) copy(text_);
}

void SourcePanel::draw_lines() {
  if (ImGui::BeginChild("lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
    ImGui::PushFont(fonts().mono, kSmallSize);
    const float gutter = width_of(std::to_string(lines_.size())) + em(2.2f);
    const float step = ImGui::GetTextLineHeightWithSpacing();
    if (std::exchange(reveal_, false) && chosen_ > 0)
      ImGui::SetScrollY(std::max(0.0f, (static_cast<float>(chosen_) - 0.5f) * step - ImGui::GetWindowHeight() / 2));
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines_.size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at) draw_line(static_cast<size_t>(at), gutter);
    ImGui::PopFont();
  }
  ImGui::EndChild();
}

void SourcePanel::draw_line(size_t at, float gutter) {
  const int64_t number = static_cast<int64_t>(at) + 1;
  const auto marked = std::find_if(marks_.begin(), marks_.end(), [&](const SourceMark& m) { return m.line == number; });
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetWindowWidth(), height = ImGui::GetTextLineHeight();
  const Palette& p = palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (marked != marks_.end()) {
    const ImU32 colour = marked->error ? p.bad : p.warn;
    list->AddRectFilled({pen.x, pen.y - 1}, {pen.x + width, pen.y + height + 1}, with_alpha(colour, 0.14f));
    list->AddText(pen, colour, ICON_WARNING);
  }
  if (number == chosen_) list->AddRect({pen.x, pen.y - 1}, {pen.x + width, pen.y + height + 1}, p.accent, em(0.1f));
  const std::string shown = std::to_string(number);
  list->AddText({pen.x + gutter - em(0.7f) - width_of(shown), pen.y}, p.faint, shown.c_str());
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + gutter);
  ImGui::PushStyleColor(ImGuiCol_Text, comment_[at] ? p.dim : p.text);
  text(lines_[at].empty() ? std::string_view(" ") : lines_[at]);
  ImGui::PopStyleColor();
  if (marked == marks_.end()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsWindowHovered() && mouse.y >= pen.y && mouse.y < pen.y + height && ImGui::BeginTooltip()) {
    ImGui::PushFont(fonts().text, kBaseSize);
    ImGui::PushTextWrapPos(em(28));
    text(marked->words);
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    ImGui::EndTooltip();
  }
}

std::unique_ptr<Panel> make_source_panel(const std::filesystem::path&) { return std::make_unique<SourcePanel>(); }

}  // namespace attnscope::ui
