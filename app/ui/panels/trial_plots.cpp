#include "ui/panels/trial_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "charts/format.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using sweep::Brush;
using sweep::Trial;
using sweep::TrialColumn;
using sweep::Trials;

constexpr float kNear = 0.6f;     // em: a trial this near the pointer is the one meant
constexpr double kMargin = 0.08;  // of an axis, beyond its least and most value
constexpr float kClick = 0.3f;    // em: a drag that is shorter is a click

ImU32 trial_colour(const Trial& trial) {
  if (trial.rank == 0) return palette().bad;
  return trial.rank == 1 ? palette().good : ui::colour_of(trial.kind);
}

void say_drawn(ImDrawList* list, ImVec2 at, const BrushedTrials& brushed) {
  const size_t rows = brushed.rows().size(), stride = stride_of(rows);
  if (stride == 1) return;
  const std::string words = fmt::format("1 of {} trials is drawn, of {}{}", stride, charts::count_text(double(rows)),
                                        brushed.brushes().empty() ? "" : " in the brush");
  list->AddText(at, palette().dim, words.c_str());
}

// Moves trials with the same knob value apart by a fraction of a position, always the same for a config.
double spread(size_t point) { return (static_cast<double>((point * 2654435761u) % 1024) / 1023 - 0.5) * 0.55; }

void choose_column(const char* id, const Trials& trials, size_t& column) {
  column = std::min(column, trials.columns.size() - 1);
  ImGui::SetNextItemWidth(em(9));
  if (!ImGui::BeginCombo(id, trials.columns[column].name.c_str())) return;
  for (size_t at = 0; at < trials.columns.size(); ++at)
    if (ImGui::Selectable(trials.columns[at].name.c_str(), at == column)) column = at;
  ImGui::EndCombo();
}

// A box to draw in, with coordinates from 0 to 1 along each side.
struct Box {
  ImVec2 low, high;
  float x(double share) const { return low.x + f32(share) * (high.x - low.x); }
  float y(double share) const { return high.y - f32(share) * (high.y - low.y); }
  double share_x(float pixel) const { return std::clamp<double>((pixel - low.x) / (high.x - low.x), 0, 1); }
  double share_y(float pixel) const { return std::clamp<double>((high.y - pixel) / (high.y - low.y), 0, 1); }
};

// A knob's positions keep a margin, so that no point is on the frame.
double place(const TrialColumn& column, double value) {
  if (!column.is_knob()) return kMargin + (1 - 2 * kMargin) * column.share(value);
  return (value + 0.5) / (column.most + 1);
}
double value_at(const TrialColumn& column, double share) {
  if (!column.is_knob()) return column.at(std::clamp((share - kMargin) / (1 - 2 * kMargin), 0.0, 1.0));
  return share * (column.most + 1) - 0.5;
}

void x_labels(ImDrawList* list, const TrialColumn& column, const Box& box, float room_each) {
  const float y = box.high.y + em(0.2f);
  const auto put = [&](double share, const std::string& words, float align) {
    list->AddText({box.x(share) - align * width_of(words), y}, palette().dim, words.c_str());
  };
  if (!column.is_knob()) {
    put(0, column.text(column.least), 0);
    if (column.most > column.least) put(1, column.text(column.most), 1);
    return;
  }
  for (size_t at = 0; at < column.labels.size(); ++at)
    put(place(column, static_cast<double>(at)), shortened(column.labels[at], room_each), 0.5f);
}

void y_labels(ImDrawList* list, const TrialColumn& column, const Box& box, float room) {
  const auto put = [&](double share, const std::string& words) {
    const std::string fits = shortened(words, room);
    list->AddText({box.low.x - em(0.4f) - width_of(fits), box.y(share) - ImGui::GetFontSize() / 2}, palette().dim,
                  fits.c_str());
  };
  if (column.is_knob()) {
    for (size_t at = 0; at < column.labels.size(); ++at) put(place(column, static_cast<double>(at)), column.labels[at]);
  } else {
    put(place(column, column.least), column.text(column.least));
    if (column.most > column.least) put(place(column, column.most), column.text(column.most));
  }
}

void draw_mark(ImDrawList* list, ImVec2 at, const Trial& trial, float radius, float alpha) {
  const ImU32 colour = with_alpha(trial_colour(trial), alpha);
  if (trial.rank == 0) {
    list->AddLine({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, colour, em(0.1f));
    list->AddLine({at.x - radius, at.y + radius}, {at.x + radius, at.y - radius}, colour, em(0.1f));
    return;
  }
  const float size = trial.rank == 1 ? radius * 1.35f : radius;
  if (trial.kind == FigureKind::modelled)
    draw_diamond(list, at, size, colour);
  else
    list->AddCircleFilled(at, size, colour);
}

void brush_box(ImDrawList* list, ImVec2 low, ImVec2 high) {
  list->AddRectFilled(low, high, with_alpha(palette().accent, 0.14f));
  list->AddRect(low, high, with_alpha(palette().accent, 0.8f));
}

std::vector<uint32_t> thinned(const std::vector<uint32_t>& rows, size_t most) {
  std::vector<uint32_t> left;
  for (size_t at = 0; at < rows.size(); at += stride_of(rows.size(), most)) left.push_back(rows[at]);
  return left;
}

bool is_click(ImVec2 from, ImVec2 to) { return std::hypot(to.x - from.x, to.y - from.y) < em(kClick); }

}  // namespace

void BrushedTrials::follow(uint64_t sweep, const session::Shared<Trials>& trials) {
  if (sweep != sweep_ || trials->columns.size() != trials_->columns.size()) brushes_.clear();
  if (sweep == sweep_ && trials == trials_) return;
  sweep_ = sweep;
  trials_ = trials;
  filter();
}

const Brush* BrushedTrials::brush_of(size_t column) const {
  const auto found = std::ranges::find(brushes_, column, &Brush::column);
  return found == brushes_.end() ? nullptr : &*found;
}

void BrushedTrials::brush(size_t column, double low, double high) {
  if (low > high) std::swap(low, high);
  if (trials_->columns[column].is_knob()) {
    low = std::ceil(low);
    high = std::floor(high);
    if (low > high) low = high = std::round((low + high) / 2);  // between two positions: the nearer one
  }
  std::erase_if(brushes_, [&](const Brush& brush) { return brush.column == column; });
  brushes_.push_back({column, low, high});
  filter();
}

void BrushedTrials::clear(size_t column) {
  std::erase_if(brushes_, [&](const Brush& brush) { return brush.column == column; });
  filter();
}

void BrushedTrials::clear() {
  brushes_.clear();
  filter();
}

void BrushedTrials::filter() {
  constexpr size_t kFewestFaint = kMostDrawn / 4;
  rows_ = sweep::brushed(*trials_, brushes_);
  drawn_ = thinned(rows_, kMostDrawn);
  std::vector<uint32_t> others;
  for (uint32_t row = 0, passed = 0; row < trials_->rows.size(); ++row)
    if (passed < rows_.size() && rows_[passed] == row)
      ++passed;
    else
      others.push_back(row);
  drawn_faintly_ = thinned(others, std::max(kMostDrawn - drawn_.size(), kFewestFaint));
}

size_t stride_of(size_t rows, size_t most) { return std::max<size_t>(1, (rows + most - 1) / most); }

std::string words_of(const Trials& trials, size_t row) {
  const Trial& trial = trials.rows[row];
  std::string words = trial.text;
  if (trial.us)
    words += fmt::format("\n{} {}{}", charts::us_text(*trial.us), to_string(trial.kind),
                         trial.rank == 1 && trial.tie ? ", cannot be told apart from the fastest"
                         : trial.rank == 1            ? ", the fastest"
                                                      : "");
  words += "\n" + std::string(attnscope::label(trial.verdict));
  if (!trial.reason.empty()) words += ": " + trial.reason;
  if (!trial.hint.empty()) words += "\n" + trial.hint;
  if (!trial.same_as.empty()) words += "\nThe same machine code as " + trial.same_as + ", which was timed.";
  return words + "\nClick to make it the current experiment.";
}

std::optional<size_t> ScatterPlot::draw(BrushedTrials& brushed) {
  const Trials& trials = brushed.all();
  const auto time = std::ranges::find(trials.columns, "time", &TrialColumn::name);
  size_t y_column = y_.value_or(static_cast<size_t>(time - trials.columns.begin()));
  choose_column("##y", trials, y_column);
  y_ = y_column;
  tooltip("The vertical axis");
  ImGui::SameLine(0, em(0.4f));
  dim_text("against");
  ImGui::SameLine(0, em(0.4f));
  choose_column("##x", trials, x_);
  tooltip("The horizontal axis");
  const TrialColumn &x = trials.columns[x_], &y = trials.columns[y_column];
  const ImVec2 pen = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float left = em(5.5f);
  const Box box{{pen.x + left, pen.y + em(0.3f)},
                {pen.x + std::max(room.x - em(0.4f), left + em(4)), pen.y + std::max(room.y - em(1.5f), em(3))}};
  ImGui::SetCursorScreenPos(box.low);
  ImGui::InvisibleButton("##scatter", {box.high.x - box.low.x, box.high.y - box.low.y});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive(), released = ImGui::IsItemDeactivated();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRect(box.low, box.high, palette().line);
  x_labels(list, x, box, (box.high.x - box.low.x) / f32(static_cast<double>(std::max<size_t>(x.labels.size(), 1))));
  y_labels(list, y, box, left - em(0.5f));
  std::optional<size_t> nearest;
  float near = em(kNear);
  list->PushClipRect(box.low, box.high, true);
  const auto draw_row = [&](uint32_t row, bool passes) {
    const double vx = x.values[row], vy = y.values[row];
    if (!std::isfinite(vx) || !std::isfinite(vy)) return;
    const double aside = spread(trials.rows[row].point);
    const ImVec2 here{box.x(place(x, vx + (x.is_knob() ? aside : 0))), box.y(place(y, vy + (y.is_knob() ? aside : 0)))};
    draw_mark(list, here, trials.rows[row], em(0.22f), passes ? 0.85f : 0.13f);
    const float away = std::hypot(here.x - mouse.x, here.y - mouse.y);
    if (passes && away <= near) {
      near = away;
      nearest = row;
    }
  };
  for (const uint32_t row : brushed.drawn_faintly()) draw_row(row, false);
  for (const uint32_t row : std::views::reverse(brushed.drawn())) draw_row(row, true);  // the fastest last, on top
  const auto edge = [](const Brush* brush, const TrialColumn& column, bool high, double otherwise) {
    if (brush == nullptr) return otherwise;
    const double half = column.is_knob() ? 0.5 : 0;
    return place(column, high ? brush->high + half : brush->low - half);
  };
  const Brush *bx = brushed.brush_of(x_), *by = brushed.brush_of(y_column);
  if (bx != nullptr || by != nullptr)
    brush_box(list, {box.x(edge(bx, x, false, 0)), box.y(edge(by, y, true, 1))},
              {box.x(edge(bx, x, true, 1)), box.y(edge(by, y, false, 0))});
  if (ImGui::IsItemActivated()) pressed_ = mouse;
  if (active && pressed_ && !is_click(*pressed_, mouse))
    brush_box(list, {std::min(pressed_->x, mouse.x), std::min(pressed_->y, mouse.y)},
              {std::max(pressed_->x, mouse.x), std::max(pressed_->y, mouse.y)});
  list->PopClipRect();
  say_drawn(list, {box.low.x + em(0.4f), box.low.y + em(0.2f)}, brushed);
  if (hovered && nearest && !active) ImGui::SetTooltip("%s", words_of(trials, *nearest).c_str());
  if (!released || !pressed_) return std::nullopt;
  const ImVec2 from = *std::exchange(pressed_, std::nullopt);
  if (is_click(from, mouse)) {
    if (!nearest) brushed.clear(x_), brushed.clear(y_column);
    return nearest;
  }
  brushed.brush(x_, value_at(x, box.share_x(from.x)), value_at(x, box.share_x(mouse.x)));
  if (x_ != y_column) brushed.brush(y_column, value_at(y, box.share_y(from.y)), value_at(y, box.share_y(mouse.y)));
  return std::nullopt;
}

std::optional<size_t> ParallelPlot::draw(BrushedTrials& brushed) {
  const Trials& trials = brushed.all();
  const ImVec2 pen = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float each = room.x / f32(static_cast<double>(trials.columns.size()));
  const Box box{{pen.x, pen.y + em(1.4f)}, {pen.x + room.x, pen.y + std::max(room.y - em(0.4f), em(4))}};
  ImGui::InvisibleButton("##parallel", {room.x, std::max(room.y, em(5))});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive(), released = ImGui::IsItemDeactivated();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto x_of = [&](size_t column) { return box.low.x + (f32(static_cast<double>(column)) + 0.35f) * each; };
  std::optional<size_t> axis;  // under the pointer
  for (size_t at = 0; at < trials.columns.size(); ++at)
    if (std::abs(mouse.x - x_of(at)) < std::min(em(1), each * 0.3f)) axis = at;
  std::optional<size_t> nearest;
  float near = em(kNear);
  const auto line = [&](size_t row, ImU32 colour, float width, bool passes) {
    std::optional<ImVec2> before;
    for (size_t at = 0; at < trials.columns.size(); ++at) {
      const double value = trials.columns[at].values[row];
      if (!std::isfinite(value)) {
        before.reset();
        continue;
      }
      const ImVec2 here{x_of(at), box.y(place(trials.columns[at], value))};
      if (before) {
        list->AddLine(*before, here, colour, width);
        if (mouse.x >= before->x && mouse.x <= here.x && passes) {
          const float y = before->y + (here.y - before->y) * (mouse.x - before->x) / (here.x - before->x);
          if (std::abs(y - mouse.y) < near) {
            near = std::abs(y - mouse.y);
            nearest = row;
          }
        }
      }
      before = here;
    }
  };
  const float alpha = std::clamp(12.0f / std::sqrt(f32(static_cast<double>(brushed.rows().size()) + 1)), 0.12f, 0.8f);
  for (const uint32_t row : brushed.drawn_faintly()) line(row, with_alpha(palette().faint, 0.12f), 1, false);
  for (const uint32_t row : std::views::reverse(brushed.drawn()))
    line(row, with_alpha(trial_colour(trials.rows[row]), trials.rows[row].rank == 1 ? 1 : alpha),
         em(trials.rows[row].rank == 1 ? 0.16f : 0.08f), true);
  if (hovered && nearest && !axis && !active) line(*nearest, palette().text, em(0.18f), true);
  for (size_t at = 0; at < trials.columns.size(); ++at) {
    const TrialColumn& column = trials.columns[at];
    const float x = x_of(at);
    list->AddLine({x, box.low.y}, {x, box.high.y}, axis == at ? palette().accent : palette().dim, em(0.1f));
    const std::string name = shortened(column.name, each * 0.94f);
    list->AddText({x - each * 0.3f, pen.y}, palette().text, name.c_str());
    const auto put = [&](double value) {
      const std::string words = shortened(column.text(value), each - em(0.5f));
      const ImVec2 at_text{x + em(0.35f), box.y(place(column, value)) - ImGui::GetFontSize() / 2};
      list->AddRectFilled(at_text, {at_text.x + width_of(words), at_text.y + ImGui::GetFontSize()},
                          with_alpha(palette().panel, 0.75f));
      list->AddText(at_text, palette().dim, words.c_str());
    };
    if (column.is_knob()) {
      for (size_t value = 0; value < column.labels.size(); ++value) put(static_cast<double>(value));
    } else if (column.most > 0 || column.least > 0) {
      put(column.least);
      if (column.most > column.least) put(column.most);
    }
    if (const Brush* brush = brushed.brush_of(at)) {
      const double half = column.is_knob() ? 0.5 : 0;
      brush_box(list, {x - em(0.4f), box.y(place(column, brush->high + half)) - 1},
                {x + em(0.4f), box.y(place(column, brush->low - half)) + 1});
    }
  }
  say_drawn(list, {box.low.x + em(0.4f), box.high.y - em(1)}, brushed);
  if (ImGui::IsItemActivated()) {
    pressed_ = mouse;
    pressed_axis_ = axis;
  }
  if (active && pressed_ && pressed_axis_)
    brush_box(list, {x_of(*pressed_axis_) - em(0.4f), std::min(pressed_->y, mouse.y)},
              {x_of(*pressed_axis_) + em(0.4f), std::max(pressed_->y, mouse.y)});
  if (hovered && axis && !active)
    ImGui::SetTooltip("%s\nDrag along it to keep only those trials; click to clear.",
                      trials.columns[*axis].name.c_str());
  else if (hovered && nearest && !active)
    ImGui::SetTooltip("%s", words_of(trials, *nearest).c_str());
  if (!released || !pressed_) return std::nullopt;
  const ImVec2 from = *std::exchange(pressed_, std::nullopt);
  const auto pressed = std::exchange(pressed_axis_, std::nullopt);
  if (!pressed) return is_click(from, mouse) ? nearest : std::nullopt;
  if (std::abs(mouse.y - from.y) < em(kClick)) {
    brushed.clear(*pressed);
    return std::nullopt;
  }
  const TrialColumn& column = trials.columns[*pressed];
  brushed.brush(*pressed, value_at(column, box.share_y(from.y)), value_at(column, box.share_y(mouse.y)));
  return std::nullopt;
}

}  // namespace attnscope::ui
