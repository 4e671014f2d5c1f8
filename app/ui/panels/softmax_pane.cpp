#include "ui/panels/softmax_pane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "session/listings.h"
#include "ui/lesson_desk.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::value_text;

constexpr float kWide = 44;                         // ems: room for the tiles beside the bars
constexpr float kTable = 22, kTableWithA = 28;      // ems
constexpr float kLeastBars = 3.2f, kMostBars = 11;  // ems: height of a picture when they are stacked
constexpr float kFlattest = 2;                      // ems: least height when they are side by side

// A row of bars around zero, one for each value. Values that are not finite are marked at the bottom.
struct Bars {
  std::string name;   // "Scores by key": begins the heading, also the id of its items
  std::string more;   // the heading's rest
  std::string each;   // "key", for a bar's tooltip
  int64_t first = 0;  // the number of the first value
  std::span<const float> values;
  ImU32 colour = 0;
  std::vector<std::pair<double, ImU32>> levels = {};  // horizontal lines
  std::span<const float> a = {};                      // A's first values; empty: none are known
};

// Draws the heading and the picture below it.
void draw_bars(const Bars& bars, float width, float height) {
  const Palette& p = palette();
  clipped(bars.name + (bars.a.empty() ? "" : ", ticks A's") + bars.more, width, p.dim);
  double low = 0, high = 0;
  const auto reach = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const float value : bars.values) reach(double(value));
  for (const float value : bars.a) reach(double(value));
  for (const auto& [level, colour] : bars.levels) reach(level);
  if (high <= low) high = low + 1;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float step = width / static_cast<float>(bars.values.size());
  ImGui::InvisibleButton(("##" + bars.name).c_str(), {std::max(width, 1.0f), height});
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto y_of = [&](double value) { return corner.y + height * f32((high - value) / (high - low)); };
  list->AddRectFilled(corner, {corner.x + width, corner.y + height}, p.raised);
  const int hovered =
      ImGui::IsItemHovered() && step > 0
          ? std::clamp(static_cast<int>((ImGui::GetIO().MousePos.x - corner.x) / step), 0, int(bars.values.size()) - 1)
          : -1;
  for (size_t i = 0; i < bars.values.size(); ++i) {
    const double value = double(bars.values[i]);
    const float left = corner.x + static_cast<float>(i) * step, right = left + std::max(1.0f, step - 1);
    const ImU32 colour = static_cast<int>(i) == hovered ? p.text : bars.colour;
    if (std::isfinite(value))
      list->AddRectFilled({left, std::min(y_of(value), y_of(0))}, {right, std::max(y_of(value), y_of(0)) + 1}, colour);
    else
      list->AddRectFilled({left, corner.y + height - em(0.25f)}, {right, corner.y + height},
                          std::isnan(value) ? p.nan : p.faint);
    const double of_a = i < bars.a.size() ? double(bars.a[i]) : std::nan("");
    if (std::isfinite(of_a)) {
      const float y = std::floor(y_of(of_a)), thick = std::max(1.0f, std::floor(em(0.09f)));
      list->AddRectFilled({left, y}, {right, y + thick}, p.text);
    }
  }
  list->AddLine({corner.x, y_of(0)}, {corner.x + width, y_of(0)}, p.line);
  for (const auto& [level, colour] : bars.levels)
    if (std::isfinite(level)) list->AddLine({corner.x, y_of(level)}, {corner.x + width, y_of(level)}, colour, em(0.1f));
  if (hovered < 0) return;
  const auto at = static_cast<size_t>(hovered);
  tooltip(fmt::format("{} {}: {}{}", bars.each, bars.first + hovered, value_text(double(bars.values[at])),
                      at < bars.a.size() ? "; A " + value_text(double(bars.a[at])) : ""));
}

std::string keys_text(const SoftmaxTile& tile) {
  if (tile.end_key == tile.first_key) return "none";
  return fmt::format("{}\u2013{}", tile.first_key, tile.end_key - 1);
}

// A number that is dragged, or typed after a double click.
void number_input(const char* id, const char* format, int64_t& value, int64_t count) {
  int shown = static_cast<int>(value);
  ImGui::SetNextItemWidth(em(6));
  if (ImGui::DragInt(id, &shown, 0.2f, 0, static_cast<int>(count) - 1, format, ImGuiSliderFlags_AlwaysClamp))
    value = shown;
  tooltip("Drag sideways, or double-click and type");
  ImGui::SameLine(0, em(0.4f));
}

}  // namespace

void SoftmaxPane::show(const SoftmaxRow& row, int64_t tile) {
  row_ = row;
  tile_ = static_cast<int>(std::max<int64_t>(1, tile)) - 1;
}

int64_t SoftmaxPane::draw(Context& context, const Kernel& kernel) {
  const auto& seen = context.shown.observation;
  if (seen == nullptr || seen->experiment.kernel_hash != kernel.content_hash) {
    wrapped("The shown run has another source; run again to step its softmax.", palette().dim, kSmallSize);
    return 0;
  }
  const Problem& problem = seen->experiment.problem;
  follow_lesson(context.lesson);
  if (problem.is_attention()) {
    row_.batch = std::clamp<int64_t>(row_.batch, 0, problem.batch - 1);
    row_.head = std::clamp<int64_t>(row_.head, 0, problem.heads - 1);
    row_.row = std::clamp<int64_t>(row_.row, 0, problem.seq_q - 1);
  }
  take(context);
  take_a(context);
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), em(0.05f)});
  int64_t chosen = 0;
  if (problem.is_attention()) draw_choice(problem);
  if (tiles_.empty()) {
    wrapped(missing_, palette().dim);
  } else {
    draw_figures();
    chosen = draw_lines();
    const float room = ImGui::GetContentRegionAvail().x;
    const float table = a_ != nullptr ? kTableWithA : kTable;
    const bool beside = room > em(kWide - kTable + table);
    if (beside) {
      ImGui::BeginChild("tiles", {em(table), 0});
      draw_tiles(0);
      ImGui::EndChild();
      ImGui::SameLine(0, em(0.8f));
    }
    ImGui::BeginChild("bars", {0, 0});
    draw_bars_of_tile();
    if (!beside) draw_tiles(em(12));
    ImGui::EndChild();
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  return chosen;
}

// An open lesson's step speaks of one row: its numbers are found here as soon as one looks.
void SoftmaxPane::follow_lesson(const LessonDesk& lesson) {
  const lesson::Progress* progress = lesson.progress();
  const std::optional<int64_t> row =
      progress != nullptr && progress->step().run ? progress->step().run->softmax : std::nullopt;
  if (row == lesson_row_) return;
  lesson_row_ = row;
  if (row) row_ = {0, 0, *row};
}

// What is known of the row; asks for it where it is not.
void SoftmaxPane::take(Context& context) {
  const Experiment& experiment = context.shown.observation->experiment;
  if (std::string hash = hash_of(experiment); hash != of_) {
    of_ = std::move(hash);  // another experiment's numbers must not stay under the row's name
    listing_.reset();
    tiles_.clear();
  }
  const std::string key = session::listing_key(of_, row_);
  const auto found = context.snapshot.listings.find(key);
  const auto refused = context.snapshot.refused_listings.find(key);
  waits_ = found == context.snapshot.listings.end() && refused == context.snapshot.refused_listings.end();
  if (waits_) {
    if (!context.shown.running()) context.session.request_softmax(experiment, row_);
    missing_ = "The row's CTA is being emulated.";
    return;  // the previous row stays until this one arrives
  }
  if (refused != context.snapshot.refused_listings.end()) {
    listing_.reset();
    tiles_.clear();
    missing_ = refused->second.message + (refused->second.hint.empty() ? "" : "\n" + refused->second.hint);
    return;
  }
  if (listing_ == found->second) return;
  listing_ = found->second;
  tiles_ = listing_->softmax ? tiles_of(*listing_->softmax) : std::vector<SoftmaxTile>();
  missing_ = "The kernel's CTA took no tile of keys for this row.";
}

// The same row of A. It is requested once B's is there.
void SoftmaxPane::take_a(Context& context) {
  without_a_ = why_no_ghost(context);
  const bool none = context.baseline.ghost == nullptr || tiles_.empty();
  if (none || waits_) {
    if (none) a_.reset();
    return;
  }
  if (const auto& seen = context.baseline.entry->observation; seen != a_of_) {
    a_of_ = seen;
    a_hash_ = hash_of(seen->experiment);
  }
  a_.reset();
  const std::string key = session::listing_key(a_hash_, row_);
  const auto found = context.snapshot.listings.find(key);
  const auto refused = context.snapshot.refused_listings.find(key);
  if (found != context.snapshot.listings.end()) {
    if (found->second->softmax && found->second->softmax->steps() > 0)
      a_ = found->second;
    else
      without_a_ = "A took no tile of keys for this row";
  } else if (refused != context.snapshot.refused_listings.end()) {
    without_a_ = "A: " + refused->second.message;
  } else {
    if (!context.shown.running()) context.session.request_softmax(a_of_->experiment, row_);
    without_a_ = "A's CTA is being emulated";
  }
}

std::optional<charts::SoftmaxGhost> SoftmaxPane::ghost_at(size_t tile) const {
  return a_ != nullptr ? charts::softmax_ghost(*a_->softmax, *listing_->softmax, tile) : std::nullopt;
}

void SoftmaxPane::draw_choice(const Problem& problem) {
  number_input("##row", "row %d", row_.row, problem.seq_q);
  if (problem.heads > 1) number_input("##head", "head %d", row_.head, problem.heads);
  if (problem.batch > 1) number_input("##batch", "batch %d", row_.batch, problem.batch);
  if (tiles_.empty()) return ImGui::NewLine();
  const int last = static_cast<int>(tiles_.size()) - 1;
  tile_ = std::clamp(tile_, 0, last);
  ImGui::BeginDisabled(tile_ == 0);
  if (ImGui::SmallButton("<##tile")) --tile_;
  ImGui::EndDisabled();
  tooltip("The tile of keys before");
  ImGui::SameLine(0, em(0.3f));
  ImGui::BeginDisabled(tile_ == last);
  if (ImGui::SmallButton(">##tile")) ++tile_;
  ImGui::EndDisabled();
  tooltip("The next tile of keys");
  ImGui::SameLine(0, em(0.5f));
  text(fmt::format("tile {} of {}{}", tile_ + 1, has_all_tiles(*listing_->softmax) ? "" : "the first ", last + 1));
  ImGui::SameLine(0, em(0.5f));
  int shown = tile_ + 1;
  ImGui::SetNextItemWidth(std::clamp(ImGui::GetContentRegionAvail().x, em(4), em(14)));
  if (ImGui::SliderInt("##tile", &shown, 1, last + 1, "", ImGuiSliderFlags_AlwaysClamp)) tile_ = shown - 1;
}

// The tile's update of l, with the kernel's own numbers.
void SoftmaxPane::draw_figures() const {
  const SoftmaxSteps& steps = *listing_->softmax;
  const auto at = static_cast<size_t>(tile_);
  const SoftmaxTile& tile = tiles_[at];
  const std::string before = at == 0 ? "-inf" : value_text(double(steps.m[at - 1]));
  ImGui::PushFont(fonts().strong, kMediumSize);
  text(fmt::format("m  {} \u2192 {}", before, value_text(double(tile.m))));
  const std::string sum = "l  " + charts::sum_text(steps, at);
  ImGui::SameLine(0, em(1.2f));
  if (width_of(sum) > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
  text(sum);
  ImGui::PopFont();
  const std::optional<charts::SoftmaxGhost> ghost = ghost_at(at);
  std::string note = ghost ? charts::ghost_text(*ghost) + "; " : without_a_.empty() ? "" : without_a_ + "; ";
  note += fmt::format("fp64: m {}, l {}. ", value_text(double(tile.exact_m)), value_text(double(tile.exact_l)));
  note += tile.end_key == tile.first_key ? "The row sees none of these keys."
          : at == 0                      ? "The first tile."
          : tile.raised                  ? "A larger score: what l and O held counts less now."
                                         : "No larger score: l and O keep their scale.";
  if (waits_) note = "The row's CTA is being emulated; this is " + row_text(steps.row) + ". ";
  if (steps.unit != 1) note += fmt::format(" m is the largest score times {}.", value_text(steps.unit));
  clipped(note, ImGui::GetContentRegionAvail().x, waits_ ? palette().warn : palette().dim);
}

// The source lines where the values were read.
int64_t SoftmaxPane::draw_lines() const {
  const SoftmaxSteps& steps = *listing_->softmax;
  int64_t chosen = 0;
  bool first = true;
  for (const auto& [name, line] : {std::pair{"m", steps.m_line},
                                   {"l", steps.l_line},
                                   {"scores", steps.scores_line},
                                   {"end of tile", steps.end_line}}) {
    if (line == 0) continue;
    if (!std::exchange(first, false)) ImGui::SameLine(0, em(0.4f));
    if (ImGui::SmallButton(fmt::format("{}: line {}###{}", name, line, name).c_str())) chosen = line;
    tooltip("Read from the emulated machine at this line of the source");
  }
  return chosen;
}

void SoftmaxPane::draw_tiles(float height) {
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingStretchProp;
  const bool against = a_ != nullptr;
  if (!ImGui::BeginTable("##tiles", against ? 7 : 5, kFlags, {0, height})) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const char* name : {"tile", "keys", "m", "A", "factor", "l", "A"})
    if (against || name[0] != 'A') ImGui::TableSetupColumn(name);
  ImGui::TableHeadersRow();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(tiles_.size()));
  while (clipper.Step())
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
      const SoftmaxTile& tile = tiles_[static_cast<size_t>(row)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      if (ImGui::Selectable(fmt::format("{}##tile{}", row + 1, row + 1).c_str(), row == tile_,
                            ImGuiSelectableFlags_SpanAllColumns))
        tile_ = row;
      const auto cell = [](const std::string& words) {
        ImGui::TableNextColumn();
        text(words);
      };
      const auto cell_of_a = [&](double charts::SoftmaxGhost::*figure) {
        if (!against) return;
        ImGui::TableNextColumn();
        const auto ghost = ghost_at(static_cast<size_t>(row));
        dim_text(ghost && ghost->tile ? value_text((*ghost).*figure) : "\u2013");
      };
      cell(keys_text(tile));
      cell(value_text(double(tile.m)));
      cell_of_a(&charts::SoftmaxGhost::m);
      cell(value_text(tile.factor));
      cell(value_text(double(tile.l)));
      cell_of_a(&charts::SoftmaxGhost::l);
    }
  ImGui::EndTable();
}

void SoftmaxPane::draw_bars_of_tile() {
  const Palette& p = palette();
  const SoftmaxSteps& steps = *listing_->softmax;
  const auto at = static_cast<size_t>(tile_);
  const int64_t first = static_cast<int64_t>(at) * steps.keys;
  const charts::SoftmaxGhost a = ghost_at(at).value_or(charts::SoftmaxGhost{});
  std::vector<Bars> all;
  if (const auto scores = scores_of(steps, at); !scores.empty()) {
    Bars bars{"Scores by key", "; lines: m before and after", "key", first, scores, p.counted};
    if (at > 0) bars.levels.emplace_back(double(steps.m[at - 1]) / steps.unit, p.dim);
    bars.levels.emplace_back(double(steps.m[at]) / steps.unit, p.accent);
    bars.a = a.scores;
    all.push_back(std::move(bars));
  }
  if (const auto weights = weights_of(steps, at); !weights.empty())
    all.push_back(
        {"exp(score - m) by key", ": what the tile adds to l", "key", first, weights, p.modelled, {}, a.weights});
  if (const auto o = o_of(steps, at); !o.empty())
    all.push_back({"O by column", ", not yet divided by l", "column", 0, o, p.measured, {}, a.o});
  if (all.empty()) return wrapped("The manifest names no buffer with the scores or O.", p.dim);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float heading = ImGui::GetTextLineHeightWithSpacing() + ImGui::GetStyle().ItemSpacing.y;
  const auto count = static_cast<float>(all.size());
  const float stacked = room.y / count - heading;
  if (stacked >= em(kLeastBars)) {
    for (const Bars& bars : all) draw_bars(bars, room.x, std::min(stacked, em(kMostBars)));
    return;
  }
  // A flat panel shows them side by side.
  const float gap = em(0.8f), width = (room.x - gap * (count - 1)) / count;
  for (const Bars& bars : all) {
    if (&bars != &all.front()) ImGui::SameLine(0, gap);
    ImGui::BeginGroup();
    draw_bars(bars, width, std::max(room.y - heading, em(kFlattest)));
    ImGui::EndGroup();
  }
}

}  // namespace attnscope::ui
